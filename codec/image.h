// Pixels in memory: packed RGB, 8 bits a channel, rows from top to bottom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mmap/byte_buffer.h"

namespace imgpack {

struct Size {
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
  bool operator==(const Size&) const = default;
};

/// Pixels [x, x + width) x [y, y + height).
struct Rect {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const Rect&) const = default;
};

/// Whether `rect` is not empty and lies in an image of that size.
constexpr bool lies_in(const Rect& rect, Size size) noexcept {
  return rect.width != 0 && rect.height != 0 && rect.x < size.width && rect.width <= size.width - rect.x &&
         rect.y < size.height && rect.height <= size.height - rect.y;
}

/// Somebody else's pixels: row y begins at pixels + y * stride; a pixel is 3 bytes R, G, B.
struct ConstRgbView {
  const std::uint8_t* pixels = nullptr;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::size_t stride = 0;  ///< bytes from row to row, >= width * 3

  const std::uint8_t* row(std::uint32_t y) const noexcept { return pixels + y * stride; }
};

struct RgbView {
  std::uint8_t* pixels = nullptr;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::size_t stride = 0;

  std::uint8_t* row(std::uint32_t y) const noexcept { return pixels + y * stride; }
  operator ConstRgbView() const noexcept { return {pixels, width, height, stride}; }
};

/// An image without padding that keeps its memory when it is reused.
class RgbImage {
 public:
  static constexpr std::size_t kChannels = 3;
  /// What to trim() images and buffers to that live on for the next image: larger ones are rare, and each thread would
  /// keep its own.
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;

  /// Sets the size; the pixels are unspecified. Throws std::bad_alloc.
  RgbView resize(Size size) {
    size_ = size;
    bytes_.resize(static_cast<std::size_t>(size.width) * size.height * kChannels);
    return view();
  }
  Size size() const noexcept { return size_; }
  RgbView view() noexcept {
    return {reinterpret_cast<std::uint8_t*>(bytes_.data()), size_.width, size_.height, size_.width * kChannels};
  }
  ConstRgbView view() const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(bytes_.bytes().data()), size_.width, size_.height,
            size_.width * kChannels};
  }
  /// height x width x 3, no padding.
  std::span<const std::byte> bytes() const noexcept { return bytes_.bytes(); }
  /// Gives memory beyond `limit` bytes back; the content is lost then.
  void trim(std::size_t limit) noexcept {
    bytes_.trim(limit);
    if (bytes_.size() == 0) size_ = {};
  }

 private:
  Size size_;
  ByteBuffer bytes_;
};

/// Takes an image's rows as they are made, from top to bottom, a few at a time.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Rows [y, y + rows.height) of the image (or crop) that is being decoded; valid for the call only. Each call goes on
  /// where the last one ended.
  virtual void take(std::uint32_t y, ConstRgbView rows) = 0;
};

/// Copies what it is given into an image.
class CopyRows final : public RowSink {
 public:
  /// REQUIRES: `out` has the size of what is decoded and outlives this.
  explicit CopyRows(RgbView out) noexcept : out_(out) {}
  void take(std::uint32_t y, ConstRgbView rows) override;

 private:
  RgbView out_;
};

}  // namespace imgpack
