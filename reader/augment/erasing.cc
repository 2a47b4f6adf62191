#include "reader/augment/erasing.h"

#include <cstdint>

#include "reader/augment/half.h"
#include "reader/augment/normal_noise.h"

namespace imgpack {

namespace {

template <class T, class Convert>
void erase_as(const Erasing& erasing, Layout layout, Size size, T* image, Convert convert) {
  const auto& [rect, values, is_noise, key, record, operation] = erasing;
  NormalNoise noise(key, record, operation);
  const std::size_t plane = std::size_t{size.width} * size.height;
  for (std::size_t c = 0; c < 3; ++c) {
    const T value = convert(values[c]);
    for (std::size_t y = rect.y; y < rect.y + std::size_t{rect.height}; ++y) {
      const bool planar = layout == Layout::nchw;
      const std::size_t pixel = y * size.width + rect.x;
      T* at = image + (planar ? c * plane + pixel : pixel * 3 + c);
      const std::size_t step = planar ? 1 : 3;
      for (std::uint32_t x = 0; x < rect.width; ++x, at += step) *at = is_noise ? convert(noise.next()) : value;
    }
  }
}

}  // namespace

void erase(const Erasing& erasing, const PixelFormat& format, Size size, std::byte* image) {
  auto* const half = reinterpret_cast<std::uint16_t*>(image);
  switch (format.dtype) {
    case DType::u8:
      return erase_as(erasing, format.layout, size, reinterpret_cast<std::uint8_t*>(image),
                      [](float value) { return static_cast<std::uint8_t>(value); });
    case DType::f32:
      return erase_as(erasing, format.layout, size, reinterpret_cast<float*>(image), [](float value) { return value; });
    case DType::f16:
      return erase_as(erasing, format.layout, size, half, to_float16);
    case DType::bf16:
      return erase_as(erasing, format.layout, size, half, to_bfloat16);
  }
}

}  // namespace imgpack
