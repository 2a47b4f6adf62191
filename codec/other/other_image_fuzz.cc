// decode_other_image() and exif_orientation() on any bytes: both must return, within the limit that was set.
#include <cstdlib>

#include "codec/image_header.h"
#include "codec/orientation.h"
#include "codec/other/image_samples.h"
#include "codec/other/other_image.h"
#include "tests/support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace imgpack;
  constexpr std::uint64_t kMaxPixels = 1u << 12;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  RgbImage image;
  const Codec codec = read_image_header(file, kMaxPixels).header.codec;
  for (const Codec tried : {Codec::png, Codec::webp, Codec::bmp, Codec::tiff, Codec::gif}) {
    const ImageResult result = decode_other_image(file, tried, kMaxPixels, image);
    if (result.ok() != result.reason.empty()) std::abort();
    if (result.ok() && (tried != codec || std::uint64_t{image.size().width} * image.size().height > kMaxPixels)) {
      std::abort();
    }
  }
  for (const Codec tried : {Codec::jpeg, Codec::png, Codec::webp, Codec::tiff}) {
    const int orientation = exif_orientation(file, tried);
    if (orientation < 1 || orientation > 8) std::abort();
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (ImageSample& sample : image_samples()) seeds.push_back(std::move(sample.bytes));
  return seeds;
}
