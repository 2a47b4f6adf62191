#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <cuda_runtime_api.h>

namespace imgpack::testing {

namespace {

constexpr int kDevices = 2;
constexpr std::size_t kDeviceBytes = std::size_t{64} << 30;
thread_local int current_device = 0;

/// CUDA does not work in a child of fork().
void check_process() {
  static const pid_t process = getpid();
  if (getpid() != process) std::abort();
}

enum class Kind { device, pinned, registered };

/// Memory that CUDA knows.
class KnownMemory {
 public:
  static KnownMemory& of_process() {
    static auto* const only = new KnownMemory;
    return *only;
  }

  /// With something in it: new memory is not zeros.
  cudaError_t allocate(void** memory, std::size_t bytes, Kind kind) {
    check_process();
    constexpr std::size_t kAlignment = 256;
    constexpr std::size_t kUnit = 16;  // what kernels may read of, beyond the end
    const std::size_t size = (bytes + kUnit - 1) / kUnit * kUnit;
    const std::lock_guard lock(mutex_);
    if (kind == Kind::device && size > kDeviceBytes - device_bytes_) return cudaErrorMemoryAllocation;
    if (size > kDeviceBytes || posix_memalign(memory, kAlignment, size) != 0) return cudaErrorMemoryAllocation;
    std::memset(*memory, 0xcd, size);
    ranges_[address(*memory)] = {size, kind};
    if (kind == Kind::device) device_bytes_ += size;
    return cudaSuccess;
  }
  cudaError_t free(void* memory, Kind kind) {
    check_process();
    if (memory == nullptr) return cudaSuccess;
    const std::lock_guard lock(mutex_);
    const auto range = ranges_.find(address(memory));
    if (range == ranges_.end() || range->second.kind != kind) return cudaErrorInvalidValue;
    if (kind == Kind::device) device_bytes_ -= range->second.bytes;
    ranges_.erase(range);
    std::free(memory);
    return cudaSuccess;
  }
  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return kDeviceBytes - device_bytes_;
  }
  cudaError_t add_registered(void* memory, std::size_t bytes) {
    check_process();
    const std::lock_guard lock(mutex_);
    const auto next = ranges_.lower_bound(address(memory));
    if ((next != ranges_.end() && next->first - address(memory) < bytes) || find(memory) != ranges_.end()) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
    ranges_[address(memory)] = {bytes, Kind::registered};
    return cudaSuccess;
  }
  cudaError_t remove_registered(void* memory) {
    check_process();
    const std::lock_guard lock(mutex_);
    const auto range = ranges_.find(address(memory));
    if (range == ranges_.end() || range->second.kind != Kind::registered) return cudaErrorInvalidValue;
    ranges_.erase(range);
    return cudaSuccess;
  }
  cudaMemoryType type_of(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto range = find(memory);
    if (range == ranges_.end()) return cudaMemoryTypeUnregistered;
    return range->second.kind == Kind::device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  }
  /// Whether the bytes lie in one range, or `if_unknown` if they begin in none.
  bool holds(const void* memory, std::size_t bytes, bool if_unknown) {
    const std::lock_guard lock(mutex_);
    const auto range = find(memory);
    if (range == ranges_.end()) return if_unknown;
    return address(memory) - range->first + bytes <= range->second.bytes;
  }

 private:
  struct Range {
    std::size_t bytes = 0;
    Kind kind = Kind::device;
  };
  using Ranges = std::map<std::uintptr_t, Range>;

  static std::uintptr_t address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }
  Ranges::iterator find(const void* memory) {
    auto range = ranges_.upper_bound(address(memory));
    if (range == ranges_.begin()) return ranges_.end();
    --range;
    return address(memory) - range->first < range->second.bytes ? range : ranges_.end();
  }

  std::mutex mutex_;
  Ranges ranges_;
  std::size_t device_bytes_ = 0;
};

KnownMemory& known() {
  return KnownMemory::of_process();
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

void set(void* memory, int value, std::size_t bytes) {
  if (bytes != 0) std::memset(memory, value, bytes);
}

/// Each side must lie in one piece of memory, and be the device's where the kind says so.
bool may_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return true;
  if (kind != cudaMemcpyDeviceToHost && known().type_of(to) != cudaMemoryTypeDevice) return false;
  if (kind != cudaMemcpyHostToDevice && known().type_of(from) != cudaMemoryTypeDevice) return false;
  return known().holds(to, bytes, true) && known().holds(from, bytes, true);
}

}  // namespace

cudaError_t check_launch(dim3 blocks, unsigned threads, cudaStream_t stream) {
  check_process();
  constexpr unsigned kMostRows = 65535;
  if (blocks.x == 0 || blocks.y == 0 || blocks.y > kMostRows || blocks.z != 1 || threads == 0 ||
      threads > kMostThreads || threads % kWarp != 0) {
    return cudaErrorInvalidConfiguration;
  }
  return stream != nullptr && device_of(*stream) != current_device ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

}  // namespace imgpack::testing

using namespace imgpack::testing;

const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : cudaGetErrorName(status);
}
const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorHostMemoryAlreadyRegistered:
      return "cudaErrorHostMemoryAlreadyRegistered";
    default:
      return "an error";
  }
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  check_process();
  *count = kDevices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  check_process();
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  check_process();
  if (device < 0 || device >= kDevices) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "the host");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  check_process();
  finish_all_streams();
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  check_process();
  *stream = make_stream(current_device);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  check_process();
  destroy_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  check_process();
  finish(stream);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
  check_process();
  queue(stream, [=] { function(argument); });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  check_process();
  *event = make_event(current_device, (flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  check_process();
  destroy_event(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  check_process();
  if (stream != nullptr && device_of(*stream) != device_of(*event)) return cudaErrorInvalidResourceHandle;
  record(*event, stream);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  check_process();
  finish(*event);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  check_process();
  return is_over(*event) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  check_process();
  if (!is_timed(*begin) || !is_timed(*end) || device_of(*begin) != device_of(*end)) {
    return cudaErrorInvalidResourceHandle;
  }
  if (!is_over(*begin) || !is_over(*end)) return cudaErrorNotReady;
  *milliseconds = milliseconds_between(*begin, *end);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  check_process();
  let_wait(stream, *event);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return known().allocate(memory, bytes, Kind::device);
}
/// Waits for all work, as CUDA's does.
cudaError_t cudaFree(void* memory) {
  check_process();
  finish_all_streams();
  return known().free(memory, Kind::device);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = known().free_bytes();
  *total = kDeviceBytes;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return known().allocate(memory, bytes, Kind::pinned);
}
cudaError_t cudaFreeHost(void* memory) {
  check_process();
  finish_all_streams();
  return known().free(memory, Kind::pinned);
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  return known().add_registered(memory, bytes);
}
cudaError_t cudaHostUnregister(void* memory) {
  return known().remove_registered(memory);
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (known().type_of(host) != cudaMemoryTypeHost) return cudaErrorInvalidValue;
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  attributes->type = known().type_of(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  check_process();
  if (!may_copy(to, from, bytes, kind)) return cudaErrorInvalidValue;
  finish(static_cast<cudaStream_t>(nullptr));
  copy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  check_process();
  if (!may_copy(to, from, bytes, kind)) return cudaErrorInvalidValue;
  queue(stream, [=] { copy(to, from, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  check_process();
  if (bytes != 0 && !known().holds(memory, bytes, false)) return cudaErrorInvalidValue;
  queue(stream, [=] { set(memory, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
                                 cudaMemcpyAttributes*, std::size_t*, std::size_t, cudaStream_t stream) {
  check_process();
  if (count == 0 || stream == nullptr) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] == 0 || !known().holds(to[i], bytes[i], false) || !known().holds(from[i], bytes[i], false)) {
      return cudaErrorInvalidValue;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    queue(stream, [to = to[i], from = from[i], size = bytes[i]] { copy(to, from, size); });
  }
  return cudaSuccess;
}
