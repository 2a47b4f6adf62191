#include "reader/gpu/cufile_api.h"

#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "imgpack/error.h"

namespace imgpack::gpu {

namespace {

constexpr const char* kLibrary = "libcufile.so.0";
constexpr int kDriverAlreadyOpen = 5026;

[[noreturn]] void throw_unsupported(const std::string& why) {
  throw Error(ErrorCode::unsupported, fmt::format("gds transport (GPUDirect Storage) is not possible: {}", why));
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* const symbol = ::dlsym(library, name);
  if (symbol == nullptr) throw_unsupported(fmt::format("{} has no {}", kLibrary, name));
  function = reinterpret_cast<Function>(symbol);
}

}  // namespace

std::string words_of(CufileError error) {
  const char* words = "";
  switch (error.code) {
    case 5001:
      words = ": the driver nvidia-fs is not loaded, and compatibility mode is off";
      break;
    case 5007:
      words = ": not possible on this platform";
      break;
    case 5008:
      words = ": not possible for files on this file system";
      break;
    case 5009:
      words = ": not possible for this GPU";
      break;
    case 5011:
      words = ": the CUDA driver refused";
      break;
    case 5019:
    case 5020:
      words = ": the file was not opened for direct reading";
      break;
    case 5027:
      words = ": the library does not know the file's handle";
      break;
    case 5034:
      words = ": switched off for this file by cufile.json";
      break;
    case 5036:
      words = ": the GPU's memory can't be pinned";
      break;
    default:
      break;
  }
  if (error.cuda_code != 0) return fmt::format("cuFile error {}{} (CUDA error {})", error.code, words, error.cuda_code);
  return fmt::format("cuFile error {}{}", error.code, words);
}

std::shared_ptr<const CufileApi> CufileApi::open() {
  static std::mutex mutex;
  static std::weak_ptr<const CufileApi> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const CufileApi> api = shared.lock();
  if (api && api->process_ == ::getpid()) return api;
  const std::shared_ptr<CufileApi> made(new CufileApi);
  made->load();
  shared = made;
  return made;
}

void CufileApi::load() {
  process_ = ::getpid();
  library_ = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) {
    const char* const why = ::dlerror();
    throw_unsupported(fmt::format("{} can't be loaded: {}", kLibrary, why == nullptr ? "no reason given" : why));
  }
  find(library_, "cuFileDriverOpen", driver_open_);
  find(library_, "cuFileDriverClose", driver_close_);
  find(library_, "cuFileHandleRegister", handle_register);
  find(library_, "cuFileHandleDeregister", handle_deregister);
  find(library_, "cuFileBufRegister", buffer_register);
  find(library_, "cuFileBufDeregister", buffer_deregister);
  find(library_, "cuFileRead", read);
  const CufileError error = driver_open_();
  if (error.code == kDriverAlreadyOpen) return;  // by other code of the process, which will close it
  if (error.code != 0) throw_unsupported(words_of(error));
  opened_ = true;
}

CufileApi::~CufileApi() {
  if (process_ != ::getpid()) return;
  if (opened_) (void)driver_close_();
  // The library stays loaded: it has threads and handlers of its own that do not survive unloading.
}

}  // namespace imgpack::gpu
