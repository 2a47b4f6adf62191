// A reusable byte array that is not zeroed when it grows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace imgpack {

class ByteBuffer {
 public:
  /// Sets the size; the content is unspecified. Throws std::bad_alloc.
  std::span<std::byte> resize(std::size_t size) {
    if (size > capacity_) {
      data_ = std::make_unique_for_overwrite<std::byte[]>(size);
      capacity_ = size;
    }
    size_ = size;
    return {data_.get(), size_};
  }
  /// Shortens. REQUIRES: size <= bytes().size().
  void shrink(std::size_t size) noexcept { size_ = size; }
  /// Gives memory beyond `limit` bytes back; the content is lost then.
  void trim(std::size_t limit) noexcept {
    if (capacity_ > limit) {
      data_.reset();
      capacity_ = 0;
      size_ = 0;
    }
  }
  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  std::byte* data() noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace imgpack
