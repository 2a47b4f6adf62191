// What the host tells the device about a batch: written into pinned memory, copied over in one piece.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <cuda_runtime_api.h>

#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

/// Not thread-safe. Whatever was uploaded must be done with before the next reset().
class ProgramBuffer {
 public:
  /// Makes the host's side, aligned to 256 bytes at least; what it throws is thrown on.
  using Allocate = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;

  /// With pinned memory on the host's side.
  ProgramBuffer();
  explicit ProgramBuffer(Allocate allocate_host) : allocate_host_(std::move(allocate_host)) {}

  /// Where something lies: `host` moves when the buffer grows, the offset stays.
  struct Place {
    std::size_t offset = 0;
  };

  void reset() noexcept { used_ = 0; }
  /// Room for `count` of T, unspecified. Throws out_of_memory, io.
  template <class T>
  Place reserve(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return take(count * sizeof(T));
  }
  template <class T>
  Place append(std::span<const T> items) {
    const Place place = reserve<T>(items.size());
    if (!items.empty()) std::memcpy(host_.get() + place.offset, items.data(), items.size_bytes());
    return place;
  }
  /// Makes the device's side as large as the host's, so that device addresses stay. Before device().
  void settle();

  template <class T>
  T* host(Place place) const noexcept {
    return reinterpret_cast<T*>(host_.get() + place.offset);
  }
  /// REQUIRES: settle() since the last growth.
  template <class T>
  T* device(Place place) const noexcept {
    return reinterpret_cast<T*>(device_.data() + place.offset);
  }
  /// Throws io.
  void upload(cudaStream_t stream) const;

 private:
  Place take(std::size_t bytes);

  Allocate allocate_host_;
  std::shared_ptr<std::byte> host_;
  std::size_t host_bytes_ = 0;
  DeviceBuffer device_;
  std::size_t used_ = 0;
};

}  // namespace imgpack::gpu
