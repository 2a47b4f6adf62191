// Compiled without contraction of floating-point operations (reader/CMakeLists.txt): torch rounds after each one.
#include "reader/augment/pixel_converter.h"

#include <cstring>

namespace imgpack {

namespace {

FastScale make_scale(const PixelFormat& format) {
  const auto split = [](double number, float& high, float& low) {
    high = static_cast<float>(number);
    low = static_cast<float>(number - static_cast<double>(high));
  };
  FastScale scale;
  split(1.0 / 255, scale.unit_high, scale.unit_low);
  const Normalize normalize = format.normalize.value_or(Normalize());
  scale.normalize = format.normalize.has_value();
  for (std::size_t i = 0; i < FastScale::kPeriod; ++i) {
    scale.mean[i] = normalize.mean[i % 3];
    split(1 / static_cast<double>(normalize.std[i % 3]), scale.scale_high[i], scale.scale_low[i]);
  }
  return scale;
}

}  // namespace

PixelConverter::PixelConverter(const PixelFormat& format, bool streaming)
    : format_(format),
      value_bytes_(size_of(format.dtype)),
      tables_(make_value_tables(format)),
      scale_(make_scale(format)),
      streaming_(streaming) {
  if (format.dtype == DType::u8) return;
  std::array<std::uint8_t, 256> all;
  for (std::size_t v = 0; v < all.size(); ++v) all[v] = static_cast<std::uint8_t>(v);
  std::array<std::byte, 256 * sizeof(float)> made;
  std::array<std::byte, 256 * sizeof(float)> expected;
  fast_ = true;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    scale_values(all.data(), all.size(), channel, scale_, tables_, format.dtype, false, made.data());
    look_up_values(all.data(), all.size(), channel, tables_, format.dtype, expected.data());
    fast_ = fast_ && std::memcmp(made.data(), expected.data(), all.size() * value_bytes_) == 0;
  }
}

void PixelConverter::convert_row(const std::uint8_t* rgb, Size size, std::uint32_t y, bool flip, std::byte* out) {
  const std::size_t width = size.width;
  const bool stream = streams(size, out);
  if (format_.layout == Layout::nhwc) {
    std::byte* const row = out + y * width * 3 * value_bytes_;
    if (format_.dtype == DType::u8) {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(row);
      if (flip) {
        flip_row(rgb, width, stream, bytes);
      } else if (stream) {
        stream_row(rgb, width * 3, bytes);
      } else {
        std::memcpy(bytes, rgb, width * 3);
      }
      return;
    }
    if (flip) {
      scratch_.resize(width * 3);
      flip_row(rgb, width, false, scratch_.data());
      rgb = scratch_.data();
    }
    return convert_values(rgb, width * 3, kPacked, stream, row);
  }
  const std::size_t plane = std::size_t{size.height} * width * value_bytes_;
  std::byte* const row = out + y * width * value_bytes_;
  if (format_.dtype == DType::u8) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(row);
    return split_row(rgb, width, flip, bytes, bytes + plane, bytes + 2 * plane);
  }
  scratch_.resize(width * 3);
  std::uint8_t* const planes = scratch_.data();
  split_row(rgb, width, flip, planes, planes + width, planes + 2 * width);
  for (std::size_t c = 0; c < 3; ++c) convert_values(planes + c * width, width, c, stream, row + c * plane);
}

bool PixelConverter::streams(Size size, const std::byte* out) const noexcept {
  const bool planar = format_.layout == Layout::nchw;
  const bool is_bytes = format_.dtype == DType::u8;
  if (!streaming_ || (is_bytes ? planar : !fast_)) return false;
  const std::size_t alignment = is_bytes ? kStreamAlignment : kWideStreamAlignment;
  const std::size_t row_bytes = std::size_t{size.width} * (planar ? 1 : 3) * value_bytes_;
  return row_bytes % alignment == 0 && reinterpret_cast<std::uintptr_t>(out) % alignment == 0;
}

void PixelConverter::finish() const {
  if (streaming_) end_streaming();
}

void PixelConverter::convert_values(const std::uint8_t* values, std::size_t count, std::size_t channel, bool stream,
                                    std::byte* out) const {
  if (fast_) {
    scale_values(values, count, channel, scale_, tables_, format_.dtype, stream, out);
  } else {
    look_up_values(values, count, channel, tables_, format_.dtype, out);
  }
}

}  // namespace imgpack
