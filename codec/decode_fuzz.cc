// Decoding any record: nothing outside its bytes is read or written, failures have a reason, and a crop that decodes
// has the pixels of the whole. Input: codec, width, height (2 bytes each), size of the segment index (2 bytes), index,
// payload.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codec/decode.h"
#include "codec/decode_samples.h"
#include "codec/other/other_image.h"
#include "mmap/little_endian.h"
#include "tests/support/fuzz.h"

namespace {

using namespace imgpack;

constexpr std::size_t kHead = 7;
constexpr std::uint64_t kMaxPixels = 1u << 14;

void check(bool condition) {
  if (!condition) std::abort();
}

bool decode_part(ImageDecoder& decoder, const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop,
                 RgbImage& out) {
  const ImageResult result = decoder.decode(meta, bytes, crop, out.resize({crop.width, crop.height}));
  check(result.ok() == result.reason.empty());
  return result.ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHead) return 0;
  const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
  RecordMeta meta;
  meta.codec = static_cast<Codec>(data[0]);
  meta.width = load_le<std::uint16_t>(input.data() + 1);
  meta.height = load_le<std::uint16_t>(input.data() + 3);
  const std::size_t segments = std::min<std::size_t>(load_le<std::uint16_t>(input.data() + 5), size - kHead);
  const RecordBytes bytes{.payload = input.subspan(kHead + segments), .segments = input.subspan(kHead, segments)};

  ImageDecoder decoder(&decode_other_image, kMaxPixels);
  RgbImage whole;
  const ImageResult result = decoder.decode(meta, bytes, whole);
  check(result.ok() == result.reason.empty());
  if (result.status == ImageStatus::too_large || meta.width == 0 || meta.height == 0) return 0;

  const Rect crop{meta.width / 3u, meta.height / 4u, (meta.width + 1u) / 2, (meta.height + 1u) / 2};
  RgbImage part;
  const bool decodes = decode_part(decoder, meta, bytes, crop, part);
  if (!result.ok()) return 0;  // what is damaged may lie outside the crop
  check(decodes);
  for (std::uint32_t y = 0; y < crop.height; ++y) {
    const std::uint8_t* row = std::as_const(whole).view().row(crop.y + y) + crop.x * RgbImage::kChannels;
    check(std::equal(row, row + crop.width * RgbImage::kChannels, std::as_const(part).view().row(y)));
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const RecordSample& sample : record_samples()) {
    std::vector<std::byte> seed(kHead);
    seed[0] = static_cast<std::byte>(sample.meta.codec);
    store_le(seed.data() + 1, static_cast<std::uint16_t>(sample.meta.width));
    store_le(seed.data() + 3, static_cast<std::uint16_t>(sample.meta.height));
    store_le(seed.data() + 5, static_cast<std::uint16_t>(sample.segments.size()));
    seed.insert(seed.end(), sample.segments.begin(), sample.segments.end());
    seed.insert(seed.end(), sample.payload.begin(), sample.payload.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}
