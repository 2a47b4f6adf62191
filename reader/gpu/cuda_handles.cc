#include "reader/gpu/cuda_handles.h"

#include <utility>

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

DeviceScope::DeviceScope(int device) {
  check(cudaGetDevice(&before_), "asking for the current device");
  check(cudaThreadExchangeStreamCaptureMode(&capture_mode_), "setting the capture mode");
  if (before_ == device) return;
  if (const cudaError_t status = cudaSetDevice(device); status != cudaSuccess) {
    (void)cudaThreadExchangeStreamCaptureMode(&capture_mode_);
    throw_cuda_error(status, "choosing a device");
  }
}
DeviceScope::~DeviceScope() {
  (void)cudaSetDevice(before_);
  (void)cudaThreadExchangeStreamCaptureMode(&capture_mode_);
}

Stream Stream::create() {
  Stream stream;
  check(cudaStreamCreateWithFlags(&stream.stream_, cudaStreamNonBlocking), "making a stream");
  return stream;
}
Stream::~Stream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}
Stream::Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(stream_, other.stream_);
  return *this;
}
void Stream::synchronize() const {
  check(cudaStreamSynchronize(stream_), "waiting for a stream");
}

Event Event::create(Timing timing) {
  Event event;
  const unsigned flags = cudaEventBlockingSync | (timing == Timing::off ? cudaEventDisableTiming : 0U);
  check(cudaEventCreateWithFlags(&event.event_, flags), "making an event");
  return event;
}
Event::~Event() {
  if (event_ != nullptr) (void)cudaEventDestroy(event_);
}
Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(event_, other.event_);
  return *this;
}
void Event::record(cudaStream_t stream) const {
  check(cudaEventRecord(event_, stream), "recording an event");
}
void Event::synchronize() const {
  check(cudaEventSynchronize(event_), "waiting for an event");
}

DeviceBuffer::DeviceBuffer(std::size_t bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "allocating device memory");
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
}
DeviceBuffer::~DeviceBuffer() {
  if (data_ != nullptr) (void)cudaFree(data_);
}
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) {
  if (bytes == 0) return;
  void* data = nullptr;
  check(cudaHostAlloc(&data, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
  data_ = static_cast<std::byte*>(data);
  size_ = bytes;
}
PinnedBuffer::~PinnedBuffer() {
  if (data_ != nullptr) (void)cudaFreeHost(data_);
}
PinnedBuffer::PinnedBuffer(PinnedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
PinnedBuffer& PinnedBuffer::operator=(PinnedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) {
  auto buffer = std::make_shared<PinnedBuffer>(bytes);
  std::byte* const data = buffer->data();
  return {std::move(buffer), data};
}

}  // namespace imgpack::gpu
