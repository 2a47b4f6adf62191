// The part of NVIDIA's cuFile (GPUDirect Storage) that we use, found at run time: neither its header nor its library is
// needed to build or to start. Types and numbers are those of the public API, cufile.h 1.x of the CUDA Toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sys/types.h>

namespace imgpack::gpu {

struct CufileError {
  int code = 0;       ///< CUfileOpError; 0: success
  int cuda_code = 0;  ///< CUresult
};

/// CUfileDescr_t
struct CufileDescription {
  static constexpr int kFileDescriptor = 1;  ///< CU_FILE_HANDLE_TYPE_OPAQUE_FD
  int type = kFileDescriptor;
  union Handle {
    int descriptor;
    void* pointer;
  } handle = {.pointer = nullptr};
  const void* operations = nullptr;
};

/// The loaded library with its driver open. Shared by all users in the process: the driver is opened and closed once.
class CufileApi {
 public:
  /// Throws unsupported, saying what is missing, where the library can't be loaded or its driver not be opened.
  static std::shared_ptr<const CufileApi> open();
  ~CufileApi();
  CufileApi(const CufileApi&) = delete;
  CufileApi& operator=(const CufileApi&) = delete;

  CufileError (*handle_register)(void** handle, CufileDescription* description) = nullptr;
  void (*handle_deregister)(void* handle) = nullptr;
  CufileError (*buffer_register)(const void* device, std::size_t bytes, int flags) = nullptr;
  CufileError (*buffer_deregister)(const void* device) = nullptr;
  ssize_t (*read)(void* handle, void* device, std::size_t bytes, off_t file_offset, off_t device_offset) = nullptr;

 private:
  CufileApi() = default;
  void load();

  void* library_ = nullptr;
  CufileError (*driver_open_)() = nullptr;
  CufileError (*driver_close_)() = nullptr;
  bool opened_ = false;
  pid_t process_ = 0;
};

/// "cuFile error 5001: nvidia-fs driver is not loaded".
std::string words_of(CufileError error);

}  // namespace imgpack::gpu
