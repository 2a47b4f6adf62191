#include "codec/other/other_image.h"

#include <utility>

#include "codec/other/decoders.h"

namespace imgpack {

namespace {

using Decoder = ImageResult (*)(other::Bytes, const ImageHeader&, RgbImage&);

struct Part {
  Decoder decode = nullptr;
  const char* missing = "there is no decoder for this type of image";
};

Part part_for(Codec codec) noexcept {
  switch (codec) {
    case Codec::png:
      return {other::decode_png};
    case Codec::bmp:
      return {other::decode_bmp};
    case Codec::gif:
#if IMGPACK_HAVE_GIF
      return {other::decode_gif};
#else
      return {nullptr, "this imgpack was built without giflib, which GIF images need"};
#endif
    case Codec::webp:
#if IMGPACK_HAVE_WEBP
      return {other::decode_webp};
#else
      return {nullptr, "this imgpack was built without libwebp, which WebP images need"};
#endif
    case Codec::tiff:
#if IMGPACK_HAVE_TIFF
      return {other::decode_tiff};
#else
      return {nullptr, "this imgpack was built without libtiff, which TIFF images need"};
#endif
    case Codec::unknown:
    case Codec::jpeg:
    case Codec::raw_rgb8:
    case Codec::raw_rgb8_zstd:
      break;
  }
  return {};
}

}  // namespace

bool other_image_available(Codec codec) noexcept {
  return part_for(codec).decode != nullptr;
}

ImageResult decode_other_image(std::span<const std::byte> file, Codec codec, std::uint64_t max_pixels, RgbImage& out) {
  const Part part = part_for(codec);
  if (part.decode == nullptr) return other::unsupported(part.missing);
  ImageHeaderResult result = read_image_header(file, max_pixels);
  if (result.status == ImageHeaderStatus::too_large) return {ImageStatus::too_large, std::move(result.reason)};
  if (result.status != ImageHeaderStatus::ok) return other::damaged(std::move(result.reason));
  if (result.header.codec != codec) return other::damaged("the image is of another type than was said");
  return part.decode(file, result.header, out);
}

}  // namespace imgpack
