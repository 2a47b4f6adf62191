#include "tools/pixel_file.h"

#include <cstring>

#include <fmt/format.h>
#include <png.h>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

void make_ppm(ConstRgbView image, ByteBuffer& out) {
  const std::string header = fmt::format("P6\n{} {}\n255\n", image.width, image.height);
  const std::size_t row = std::size_t{image.width} * RgbImage::kChannels;
  std::byte* at = out.resize(header.size() + row * image.height).data();
  std::memcpy(at, header.data(), header.size());
  at += header.size();
  for (std::uint32_t y = 0; y < image.height; ++y, at += row) std::memcpy(at, image.row(y), row);
}

void make_png(ConstRgbView image, ByteBuffer& out) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGB;
  const auto stride = static_cast<png_int_32>(image.stride);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  out.resize(size);
  if (png_image_write_to_memory(&png, out.data(), &size, 0, image.pixels, stride, nullptr) == 0) {
    throw Error(ErrorCode::refused,
                fmt::format("libpng can't write an image of {}x{} pixels: {}", image.width, image.height, png.message));
  }
  out.shrink(size);
}

}  // namespace

std::optional<PixelFormat> pixel_format_from_name(std::string_view name) noexcept {
  if (name == "ppm") return PixelFormat::ppm;
  if (name == "png") return PixelFormat::png;
  return std::nullopt;
}

void make_pixel_file(ConstRgbView image, PixelFormat format, ByteBuffer& out) {
  format == PixelFormat::ppm ? make_ppm(image, out) : make_png(image, out);
}

std::string pixel_file_key(std::string_view key, PixelFormat format) {
  return std::string(key) + (format == PixelFormat::ppm ? ".ppm" : ".png");
}

}  // namespace imgpack::tools
