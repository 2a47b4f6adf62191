// Pixels as files that any program can show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/image.h"
#include "mmap/byte_buffer.h"

namespace imgpack::tools {

enum class PixelFormat : std::uint8_t { ppm, png };
/// "ppm", "png".
std::optional<PixelFormat> pixel_format_from_name(std::string_view name) noexcept;

/// The whole file. The same bytes for the same pixels. Throws refused for what libpng can't write (sides above
/// 1,000,000), std::bad_alloc.
void make_pixel_file(ConstRgbView image, PixelFormat format, ByteBuffer& out);

/// `key` with the format's extension behind it: "a/b.JPEG" -> "a/b.JPEG.png". Different keys stay different.
std::string pixel_file_key(std::string_view key, PixelFormat format);

}  // namespace imgpack::tools
