// Owners of what CUDA hands out. Each is move-only, belongs to one device, and must be destroyed in the process that
// made it; destroying memory waits for the device only where CUDA does so itself.
#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

/// Makes a device the calling thread's current one, and the one before it again afterwards. In between the thread may
/// allocate memory although another one captures a CUDA graph: nothing here is part of any graph.
class DeviceScope {
 public:
  /// Throws io.
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
  cudaStreamCaptureMode capture_mode_ = cudaStreamCaptureModeRelaxed;
};

/// A stream of the current device that does not wait for the default stream.
class Stream {
 public:
  Stream() = default;
  /// Throws io.
  static Stream create();
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  cudaStream_t get() const noexcept { return stream_; }
  /// Throws io.
  void synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  enum class Timing : bool { off, on };
  Event() = default;
  /// Threads that wait for it sleep. Throws io.
  static Event create(Timing timing = Timing::off);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  cudaEvent_t get() const noexcept { return event_; }
  /// Throw io.
  void record(cudaStream_t stream) const;
  void synchronize() const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Memory of the current device, aligned to 256 bytes at least.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws out_of_memory, io.
  explicit DeviceBuffer(std::size_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Host memory that all devices can reach: at the same address, and by asynchronous copies.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// Throws out_of_memory, io.
  explicit PinnedBuffer(std::size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept;
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A PinnedBuffer of that size, as bytes that share it. Throws as it does.
std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes);

}  // namespace imgpack::gpu
