// The bytes of an index: the example in SEGMENTS.md, and what open_segment_index() refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/segment_format.h"
#include "mmap/little_endian.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

/// The bytes of the n-th block of `text` that begins with ```hex: lines of an offset, two spaces and bytes.
Bytes hex_block(std::string_view text, int n) {
  constexpr std::string_view kBegin = "```hex\n";
  std::size_t at = 0;
  for (int i = 0; i <= n; ++i) {
    at = text.find(kBegin, at);
    REQUIRE(at != text.npos);
    at += kBegin.size();
  }
  Bytes bytes;
  while (!text.substr(at).starts_with("```")) {
    const std::size_t end = text.find('\n', at);
    for (std::size_t byte = text.find("  ", at) + 2; byte < end; byte += 3) {
      unsigned value = 0;
      const auto result = std::from_chars(text.data() + byte, text.data() + byte + 2, value, 16);
      REQUIRE(result.ec == std::errc());
      bytes.push_back(static_cast<std::byte>(value));
    }
    at = end + 1;
  }
  return bytes;
}

struct Example {
  Example()
      : text(read_file(IMGPACK_SOURCE_DIR "/codec/jpeg/SEGMENTS.md")),
        file(hex_block(as_text(text), 0)),
        index(hex_block(as_text(text), 1)) {}
  Bytes text;
  Bytes file;
  Bytes index;
};

IndexStatus open(std::span<const std::byte> index, std::span<const std::byte> file) {
  SegmentIndex opened;
  return open_segment_index(index, file, opened);
}

/// The status after a number of the index has been changed.
template <class T>
IndexStatus changed(std::span<const std::byte> index, std::span<const std::byte> file, std::size_t at, T value) {
  Bytes bytes(index.begin(), index.end());
  REQUIRE(load_le<T>(bytes.data() + at) != value);
  store_le<T>(bytes.data() + at, value);
  return open(bytes, file);
}

}  // namespace

TEST_CASE("the example in SEGMENTS.md is what the builder writes") {
  const Example example;
  CHECK(index_of(example.file, {.segment_mcus = 2}) == example.index);

  const Reference reference = decode_rgb(example.file);
  REQUIRE(reference.ok);
  CHECK(reference.warnings == 0);
  CHECK(reference.size == Size{24, 16});
  SegmentIndex index;
  REQUIRE(open_segment_index(example.index, example.file, index) == IndexStatus::ok);
  REQUIRE(index.segment_count() == 4);
  CHECK(index.start(0) == SegmentStart{0, {0, 0, 0}});
  CHECK(index.start(1) == SegmentStart{4, {0, 0, 0}});
  CHECK(index.start(2) == SegmentStart{6, {0, 0, 0}});
  CHECK(index.start(3) == SegmentStart{27, {255, 0, 0}});
  RgbImage image;
  CropDecoder decoder;
  const Rect whole{0, 0, 24, 16};
  CHECK(decoder.decode(example.file, index, whole, image.resize(reference.size)).ok());
  CHECK(reference.equals(image.view(), whole));
}

TEST_CASE("files without an index, and indexes of a later version") {
  const Example example;
  CHECK(open({}, example.file) == IndexStatus::absent);
  CHECK(changed<std::uint8_t>(example.index, example.file, kVersionAt, 2) == IndexStatus::unsupported);
  CHECK(changed<std::uint8_t>(example.index, example.file, kVersionAt, 0) == IndexStatus::unsupported);
}

TEST_CASE("an index that is cut or goes on is refused") {
  const Example example;
  const Bytes color_file = make_jpeg(70, 40, 1);
  for (const auto& [file, index] :
       {std::pair(example.file, example.index), std::pair(color_file, index_of(color_file, {.segment_mcus = 1}))}) {
    CHECK(open(index, file) == IndexStatus::ok);
    for_each_cut(index, 1, [&file = file](std::span<const std::byte> prefix) {
      CHECK(open(prefix, file) == (prefix.empty() ? IndexStatus::absent : IndexStatus::damaged));
    });
    Bytes longer = index;
    longer.push_back(std::byte{0});
    CHECK(open(longer, file) == IndexStatus::damaged);
  }
}

TEST_CASE("an index is refused with a file that is cut within header or scan") {
  const Example example;
  const std::size_t scan_end = example.file.size() - 2;
  for_each_cut(example.file, 1, [&](std::span<const std::byte> prefix) {
    CHECK(open(example.index, prefix) == (prefix.size() < scan_end ? IndexStatus::damaged : IndexStatus::ok));
  });
}

TEST_CASE("what contradicts itself or the file is refused") {
  const Bytes file = make_jpeg(100, 40, 1, {.restart_interval = 5});
  const Bytes index = index_of(file, {.segment_mcus = 3});
  SegmentIndex opened;
  REQUIRE(open_segment_index(index, file, opened) == IndexStatus::ok);
  const auto byte = [&](std::size_t at, int value) {
    return changed(index, file, at, static_cast<std::uint8_t>(value)) == IndexStatus::damaged;
  };
  const auto u16 = [&](std::size_t at, int value) {
    return changed(index, file, at, static_cast<std::uint16_t>(value)) == IndexStatus::damaged;
  };
  const auto u32 = [&](std::size_t at, std::uint32_t value) {
    return changed(index, file, at, value) == IndexStatus::damaged;
  };
  for (const int color : {0, 2, 3, 255}) CHECK(byte(kColorAt, color));
  for (const int mcus : {0, 1, 2, 8, 65535}) CHECK(u16(kSegmentMcusAt, mcus));
  for (const int side : {0, 1, 99, 101, 112, 65501, 65535}) {
    CHECK(u16(kWidthAt, side));
    CHECK(u16(kHeightAt, side));
  }
  for (const int interval : {0, 4, 10}) CHECK(u16(kRestartIntervalAt, interval));
  for (const int bits : {0, 1, 33, 255}) CHECK(byte(kPositionBitsAt, bits));
  for (const int count : {0, 1, 2, 4, 255}) CHECK(byte(kComponentCountAt, count));
  const auto file_size = static_cast<std::uint32_t>(file.size());
  for (const std::uint32_t offset : {0u, 1u, file_size, 0x7fffffffu, 0xffffffffu}) {
    CHECK(u32(kScanOffsetAt, offset));
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t component = kIndexHeaderSize + c * kIndexComponentSize;
      CHECK(u32(component + kQuantOffsetAt, offset));
      CHECK(u32(component + kDcOffsetAt, offset));
      CHECK(u32(component + kAcOffsetAt, offset));
    }
  }
  for (const std::uint32_t size : {file_size, 0x7fffffffu, 0xffffffffu}) CHECK(u32(kScanSizeAt, size));
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t component = kIndexHeaderSize + c * kIndexComponentSize;
    for (const int factors : {0x00, 0x01, 0x10, 0x33, 0x55, 0xff}) CHECK(byte(component + kSamplingAt, factors));
    for (const int flag : {1, 2, 255}) CHECK(byte(component + kQuantFlagAt, flag));
    for (const int bits : {0, 17, 255}) CHECK(byte(component + kDcBitsAt, bits));
    CHECK(byte(component + kReservedByteAt, 1));
    CHECK(u16(component + kReservedAt, 1));
    CHECK(u16(component + kDcBaseAt, 0x7fff));  // the first predictors would not be zero
  }
  const std::size_t entries = kIndexHeaderSize + 3 * kIndexComponentSize;
  CHECK(byte(entries, std::to_integer<int>(index[entries]) ^ 1));  // the first position would not be zero
  REQUIRE(opened.segment_count() * opened.entry_bits() % 8 != 0);
  CHECK(byte(index.size() - 1, std::to_integer<int>(index.back()) | 0x80));
}

TEST_CASE("predictors of any 16 bits") {
  // DC coefficients from one end to the other, beyond what 12 bits hold.
  std::array<std::uint16_t, kBlockCoefficients> quant;
  quant.fill(1);
  int dc = 0;
  Random random(2);
  const Bytes file =
      write_coefficients(1, 40, 40, quant, [&](int, std::uint32_t, std::uint32_t, std::span<std::int16_t> block) {
        const int most = std::min(32767 - dc, 2047);
        const int least = std::max(-32768 - dc, -2047);
        dc += random() % 40 < 20 ? most : random() % 3 == 0 ? std::min(most, 1) : least;
        block[0] = static_cast<std::int16_t>(dc);
      });
  SegmentIndex index;
  const Bytes bytes = index_of(file, {.segment_mcus = 1});
  REQUIRE(open_segment_index(bytes, file, index) == IndexStatus::ok);
  CHECK(index.dc_bits[0] > 12);
  const std::vector<Coefficients> coefficients = read_coefficients(file);
  for (std::uint32_t segment = 1; segment < index.segment_count(); ++segment) {
    CHECK(index.start(segment).dc[0] == coefficients[0].dc((segment - 1) % 40, (segment - 1) / 40));
  }
}
