#include "codec/image_header.h"

#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "codec/headers/headers.h"

namespace imgpack {

namespace {

using headers::Bytes;
using headers::ParsedHeader;
using headers::ParseResult;
using headers::Refusal;
using headers::starts_with;
using namespace std::string_view_literals;

bool is_webp(Bytes bytes) {
  if (bytes.size() < 16 || !starts_with(bytes, "RIFF") || !starts_with(bytes.subspan(8), "WEBP")) return false;
  const Bytes chunk = bytes.subspan(12);
  return starts_with(chunk, "VP8 ") || starts_with(chunk, "VP8L") || starts_with(chunk, "VP8X");
}

bool is_tiff(Bytes bytes) {
  // The third and fourth are wrong byte orders that are found in the wild and read all the same.
  for (const std::string_view signature :
       {"II\x2a\0"sv, "MM\0\x2a"sv, "MM\x2a\0"sv, "II\0\x2a"sv, "MM\0\x2b"sv, "II\x2b\0"sv}) {
    if (starts_with(bytes, signature)) return true;
  }
  return false;
}

struct ImageType {
  Codec codec;
  bool (*recognise)(Bytes);
  ParseResult (*parse)(Bytes);
};

constexpr std::array<ImageType, 6> kImageTypes = {{
    {Codec::jpeg, [](Bytes bytes) { return starts_with(bytes, "\xff\xd8\xff"); }, headers::parse_jpeg_header},
    {Codec::png, [](Bytes bytes) { return starts_with(bytes, "\x89PNG\r\n\x1a\n"); }, headers::parse_png_header},
    {Codec::webp, is_webp, headers::parse_webp_header},
    {Codec::gif, [](Bytes bytes) { return starts_with(bytes, "GIF87a") || starts_with(bytes, "GIF89a"); },
     headers::parse_gif_header},
    {Codec::tiff, is_tiff, headers::parse_tiff_header},
    {Codec::bmp, [](Bytes bytes) { return starts_with(bytes, "BM"); }, headers::parse_bmp_header},
}};

ImageHeaderResult refuse(ImageHeaderStatus status, std::string reason) {
  return {.status = status, .header = {}, .reason = std::move(reason)};
}

ImageHeaderResult judge(Codec codec, const ParsedHeader& parsed, std::uint64_t max_pixels) {
  if (parsed.width == 0 || parsed.height == 0) {
    return refuse(ImageHeaderStatus::malformed,
                  fmt::format("the image has no pixels: its size is {} x {}", parsed.width, parsed.height));
  }
  constexpr std::uint64_t kMaxSide = std::numeric_limits<std::uint32_t>::max();
  if (parsed.width > kMaxSide || parsed.height > kMaxSide) {
    return refuse(ImageHeaderStatus::too_large,
                  fmt::format("{} x {} pixels are more than the limit of {}", parsed.width, parsed.height, max_pixels));
  }
  const std::uint64_t pixels = parsed.width * parsed.height;
  if (pixels > max_pixels) {
    return refuse(ImageHeaderStatus::too_large,
                  fmt::format("{} pixels are more than the limit of {}", pixels, max_pixels));
  }
  return {.status = ImageHeaderStatus::ok,
          .header = {.codec = codec,
                     .width = static_cast<std::uint32_t>(parsed.width),
                     .height = static_cast<std::uint32_t>(parsed.height),
                     .channels = parsed.channels},
          .reason = {}};
}

}  // namespace

ImageHeaderResult read_image_header(std::span<const std::byte> bytes, std::uint64_t max_pixels) {
  if (bytes.empty()) return refuse(ImageHeaderStatus::empty, "the file is empty");
  for (const ImageType& type : kImageTypes) {
    if (!type.recognise(bytes)) continue;
    ParseResult result = type.parse(bytes);
    if (auto* refusal = std::get_if<Refusal>(&result)) return refuse(refusal->status, std::move(refusal->reason));
    return judge(type.codec, std::get<ParsedHeader>(result), max_pixels);
  }
  return refuse(ImageHeaderStatus::unrecognised, "not an image of a known type");
}

}  // namespace imgpack
