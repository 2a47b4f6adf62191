// Any bytes as a JPEG file, and any bytes as its index.
//
// Input: the file, the index, and the index's size as two bytes, low first. If that is more than there is, all of it is
// the file and it has no index. Checked:
//   - a file that gets an index is decoded as libjpeg-turbo decodes it, and every crop is part of the whole;
//   - whatever the index, decoding stays within its bounds (the sanitizers see to that) and does the same each time;
//     a whole image without a complaint is libjpeg-turbo's.
#include <algorithm>
#include <cstdlib>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "tests/support/fuzz.h"

namespace {

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;

constexpr std::uint64_t kMaxPixels = 1u << 16;  // small images show as much, and many a second
constexpr std::size_t kSizeBytes = 2;

struct Input {
  std::span<const std::byte> file;
  std::span<const std::byte> index;
};

Input split(std::span<const std::byte> bytes) {
  if (bytes.size() < kSizeBytes) return {bytes, {}};
  const std::span<const std::byte> tail = bytes.last(kSizeBytes);
  const std::size_t size = std::to_integer<std::size_t>(tail[0]) | std::to_integer<std::size_t>(tail[1]) << 8;
  const std::span<const std::byte> rest = bytes.first(bytes.size() - kSizeBytes);
  if (size > rest.size()) return {bytes, {}};
  return {rest.first(rest.size() - size), rest.last(size)};
}

void require(bool condition) {
  if (!condition) std::abort();
}

bool same_pixels(const RgbImage& a, const RgbImage& b) {
  return std::ranges::equal(a.bytes(), b.bytes());
}

/// A crop by rows.
DecodeReport decode_rows(CropDecoder& decoder, std::span<const std::byte> file, const SegmentIndex& index,
                         const Rect& crop, RgbImage& out) {
  CopyRows rows(out.resize({crop.width, crop.height}));
  return decoder.decode(file, index, crop, rows);
}

/// `file` is shown by its own index as libjpeg-turbo shows it.
void check_built(std::span<const std::byte> file, Random& random) {
  const Frame frame = parse(file).frame;
  if (std::uint64_t{frame.width} * frame.height > kMaxPixels) return;
  IndexBuilder builder;
  ByteBuffer bytes;
  const IndexOptions options{.segment_mcus = random() % 4};
  if (builder.build(file, options, bytes) != Indexability::indexable) return;
  SegmentIndex index;
  require(open_segment_index(bytes.bytes(), file, index) == IndexStatus::ok);
  const Reference reference = decode_rgb(file);
  require(reference.ok && reference.size == Size{index.frame.width, index.frame.height});

  CropDecoder decoder;
  RgbImage image;
  const Rect whole{0, 0, reference.size.width, reference.size.height};
  require(decoder.decode(file, index, whole, image.resize(reference.size)).ok());
  require(reference.equals(image.view(), whole));
  for (int i = 0; i < 4; ++i) {
    const Rect crop = random_crop(random, reference.size);
    require(decode_rows(decoder, file, index, crop, image).ok());
    require(reference.equals(image.view(), crop));
  }
}

/// Decoding with an index of unknown origin gives the same twice.
void check_given(std::span<const std::byte> file, std::span<const std::byte> bytes, Random& random) {
  SegmentIndex index;
  if (open_segment_index(bytes, file, index) != IndexStatus::ok) return;
  for (int i = 0; i < 3; ++i) {
    const Size size{index.frame.width, index.frame.height};
    const bool all = i == 0 && std::uint64_t{size.width} * size.height <= kMaxPixels;
    Rect crop = all ? Rect{0, 0, size.width, size.height} : random_crop(random, size);
    if (std::uint64_t{crop.width} * crop.height > kMaxPixels) crop.height = 1;
    RgbImage first;
    RgbImage second;
    CropDecoder decoder;
    const DecodeReport report = decoder.decode(file, index, crop, first.resize({crop.width, crop.height}));
    const DecodeReport again = decode_rows(decoder, file, index, crop, second);
    require(same_pixels(first, second));
    require(report.segments == again.segments && report.damaged_segments == again.damaged_segments &&
            report.first_damaged == again.first_damaged);
    ByteBuffer fresh;
    const bool reliable = IndexBuilder().build(file, {}, fresh) == Indexability::indexable;
    if (all && reliable && report.ok()) require(decode_rgb(file).equals(first.view(), crop));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input = split(std::as_bytes(std::span(data, size)));
  Random random(static_cast<std::uint32_t>(size));
  check_built(input.file, random);
  check_given(input.file, input.index, random);
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  const auto add = [&seeds](int width, int height, const JpegOptions& options) {
    const auto seed = static_cast<std::uint32_t>(seeds.size());
    std::vector<std::byte> input = make_jpeg(width, height, seed, options);
    const Bytes index = index_of(input, {.segment_mcus = 1 + seed % 3});
    input.insert(input.end(), index.begin(), index.end());
    input.push_back(static_cast<std::byte>(index.size() & 0xff));
    input.push_back(static_cast<std::byte>(index.size() >> 8));
    seeds.push_back(std::move(input));
  };
  add(20, 20, {.gray = true});
  add(40, 20, {.gray = true, .restart_interval = 2, .optimize = true});
  add(40, 33, {});
  add(17, 40, {.quality = 60, .sampling = {{1, 1}, {1, 1}, {1, 1}}, .optimize = true});
  add(40, 10, {.quality = 30, .sampling = {{2, 1}, {1, 1}, {1, 1}}, .restart_interval = 1});
  add(10, 40, {.sampling = {{1, 2}, {1, 1}, {1, 1}}, .restart_interval = 3});
  add(40, 40, {.quality = 20, .sampling = {{4, 1}, {1, 1}, {1, 1}}, .quant_16bit = true});
  add(20, 20, {.color = JpegColor::rgb, .optimize = true});
  add(35, 35, {.sampling = {{2, 2}, {2, 1}, {1, 2}}, .optimize = true, .noise = 256});
  add(8, 8, {.quality = 100, .gray = true, .optimize = true, .noise = 256});
  return seeds;
}
