#include "reader/gpu/registered_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mmap/memory_budget.h"
#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

std::string words_of(cudaError_t status) {
  (void)cudaGetLastError();  // told now; it must not come up again in a later call
  return fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

/// Brings the pages into memory, so that registering finds them there, and so that a truncated or unreadable file is
/// an error here.
std::optional<std::string> populate(HostRange window) {
#ifdef MADV_POPULATE_READ
  if (::madvise(const_cast<std::byte*>(window.data()), window.size(), MADV_POPULATE_READ) != 0 && errno != EINVAL) {
    return fmt::format("its pages can't be read: {}", std::strerror(errno));
  }
#else
  (void)window;
#endif
  return std::nullopt;
}

/// The registrations of this process. CUDA refuses to register memory twice, and two loaders of one dataset use the
/// same mapping.
class Registry {
 public:
  static Registry& of_process() {
    static Registry* const registry = new Registry;  // never destroyed: owners may live longer than static objects
    return *registry;
  }

  struct Result {
    std::size_t bytes = 0;  ///< that are registered; may be fewer than asked for
    std::string refusal;    ///< why none
  };
  Result acquire(HostRange window) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(window.data());
    if (found != entries_.end()) {
      ++found->second.owners;
      return {std::min(found->second.bytes, window.size()), {}};
    }
    if (auto problem = populate(window)) return {0, *std::move(problem)};
    constexpr unsigned kFlags = cudaHostRegisterMapped | cudaHostRegisterPortable | cudaHostRegisterReadOnly;
    void* const begin = const_cast<std::byte*>(window.data());
    const auto noted = entries_.emplace(window.data(), Entry{.bytes = window.size(), .owners = 1}).first;
    if (const cudaError_t status = cudaHostRegister(begin, window.size(), kFlags); status != cudaSuccess) {
      entries_.erase(noted);
      return {0, fmt::format("CUDA refuses to register the file's mapping: {}", words_of(status))};
    }
    return {window.size(), {}};
  }

  void release(const std::byte* window) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(window);
    if (found == entries_.end() || --found->second.owners != 0) return;
    if (cudaHostUnregister(const_cast<std::byte*>(window)) != cudaSuccess) (void)cudaGetLastError();
    entries_.erase(found);
  }

 private:
  struct Entry {
    std::size_t bytes = 0;
    std::size_t owners = 0;
  };
  std::mutex mutex_;
  std::map<const std::byte*, Entry, std::less<>> entries_;
};

/// Whether the current device can read registered read-only mappings; what it lacks if not.
std::optional<std::string> device_lacks() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  const auto has = [device](cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, device), "asking for a device's attribute");
    return value != 0;
  };
  if (!has(cudaDevAttrCanMapHostMemory)) return "the device can't read host memory";
  if (!has(cudaDevAttrHostRegisterSupported)) return "the device does not let host memory be registered";
  if (!has(cudaDevAttrHostRegisterReadOnlySupported)) return "the device does not let read-only memory be registered";
  return std::nullopt;
}

}  // namespace

RegisteredFiles RegisteredFiles::open(std::span<const HostRange> mappings, const RegistrationOptions& options) {
  RegisteredFiles files;
  files.process_ = ::getpid();
  RegistrationPlan plan = plan_registration(mappings, {.transport = options.transport,
                                                       .limit_bytes = options.limit_bytes,
                                                       .available_bytes = memory_available(),
                                                       .window_bytes = options.window_bytes,
                                                       .page_bytes = static_cast<std::uint64_t>(::getpagesize())});
  files.total_bytes_ = plan.total_bytes;
  if (!plan.windows.empty()) {
    if (auto lack = device_lacks()) {
      plan.windows.clear();
      plan.reason = *std::move(lack);
    }
  }
  std::vector<RegisteredWindow> views;
  files.held_.reserve(plan.windows.size());
  for (const HostRange window : plan.windows) {
    const Registry::Result result = Registry::of_process().acquire(window);
    if (result.bytes == 0) {
      plan.reason = result.refusal;
      break;  // the driver would refuse the others for the same reason, one after the other
    }
    files.held_.push_back(window.data());
    if (result.bytes < window.size()) plan.reason = "another loader has registered a smaller part";
    void* device = nullptr;
    const cudaError_t status = cudaHostGetDevicePointer(&device, const_cast<std::byte*>(window.data()), 0);
    if (status != cudaSuccess) {
      plan.reason = fmt::format("the device can't reach registered memory: {}", words_of(status));
      break;
    }
    views.push_back({window.data(), static_cast<const std::byte*>(device), result.bytes});
  }
  files.views_ = RegisteredWindows(std::move(views));
  files.reason_ = describe_registration(options.transport, files.registered_bytes(), files.total_bytes_, plan.reason);
  return files;
}

RegisteredFiles::~RegisteredFiles() {
  release();
}

RegisteredFiles::RegisteredFiles(RegisteredFiles&& other) noexcept
    : held_(std::exchange(other.held_, {})),
      views_(std::exchange(other.views_, {})),
      total_bytes_(other.total_bytes_),
      reason_(std::move(other.reason_)),
      process_(other.process_) {}

RegisteredFiles& RegisteredFiles::operator=(RegisteredFiles&& other) noexcept {
  if (this != &other) {
    release();
    held_ = std::exchange(other.held_, {});
    views_ = std::exchange(other.views_, {});
    total_bytes_ = other.total_bytes_;
    reason_ = std::move(other.reason_);
    process_ = other.process_;
  }
  return *this;
}

void RegisteredFiles::release() noexcept {
  if (held_.empty() || process_ != ::getpid()) return;  // what a parent registered is the parent's
  for (const std::byte* window : held_) Registry::of_process().release(window);
  held_.clear();
}

}  // namespace imgpack::gpu
