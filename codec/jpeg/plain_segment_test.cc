// The plain decoder of single segments: libjpeg-turbo's coefficients, and the verdicts of CropDecoder.
#include "codec/jpeg/plain_segment.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/zigzag.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

/// A file with its opened index.
struct Sample {
  Sample(int width, int height, std::uint32_t seed, const JpegOptions& options, const IndexOptions& index_options)
      : file(make_jpeg(width, height, seed, options)), index_bytes(index_of(file, index_options)) {
    REQUIRE(open_segment_index(index_bytes, file, index) == IndexStatus::ok);
  }

  Bytes file;
  Bytes index_bytes;
  SegmentIndex index;
};

Sample random_sample(Random& random) {
  const JpegOptions options = random_options(random);
  const auto width = static_cast<int>(1 + random() % 90);
  const auto height = static_cast<int>(1 + random() % 90);
  return {width, height, random(), options, {.segment_mcus = random() % 5}};
}

struct Tables {
  Tables(const Frame& frame, const std::uint8_t* file) {
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      of[c] = {file + frame.components[c].dc_offset, file + frame.components[c].ac_offset};
    }
  }
  PlainTables of[kMaxComponents];
};

const std::uint8_t* bytes_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

/// Where block number `block` of an MCU lies.
struct BlockPlace {
  std::size_t component = 0;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};
BlockPlace place_of(const Frame& frame, std::uint32_t row, std::uint32_t column, std::uint32_t block) {
  BlockPlace place;
  while (block >= std::uint32_t{frame.components[place.component].h} * frame.components[place.component].v) {
    block -= frame.components[place.component].h * frame.components[place.component].v;
    ++place.component;
  }
  const Component& component = frame.components[place.component];
  place.x = column * component.h + block % component.h;
  place.y = row * component.v + block / component.h;
  return place;
}

/// What decode_segment() puts for the MCUs before `end_column`, everything else 0; nothing if a segment is damaged.
std::optional<std::vector<Coefficients>> decode_columns(const Sample& sample, const std::vector<Coefficients>& like,
                                                        std::uint32_t end_column) {
  constexpr ZigzagOrder kOrder = zigzag_order();
  const SegmentIndex& index = sample.index;
  std::vector<Coefficients> made = like;
  for (Coefficients& component : made) std::ranges::fill(component.values, std::int16_t{0});
  const std::uint8_t* const file = bytes_of(sample.file);
  const Tables tables(index.frame, file);
  for (std::uint32_t segment = 0; segment < index.segment_count(); ++segment) {
    const std::uint32_t row = segment / index.segments_per_row();
    const bool good = decode_segment(
        index, file + index.frame.scan_offset, tables.of, segment, end_column,
        [&](std::uint32_t column, std::uint32_t block, std::uint32_t k, std::int16_t value) {
          const BlockPlace at = place_of(index.frame, row, column, block);
          Coefficients& to = made[at.component];
          to.values.at((std::size_t{at.y} * to.blocks_per_row + at.x) * kBlockCoefficients + kOrder.natural[k]) = value;
        });
    if (!good) return std::nullopt;
  }
  return made;
}

/// The same without the MCUs from `end_column` on.
std::vector<Coefficients> cut_columns(std::vector<Coefficients> all, const Frame& frame, std::uint32_t end_column) {
  for (std::size_t c = 0; c < all.size(); ++c) {
    const std::size_t blocks = all[c].values.size() / kBlockCoefficients;
    for (std::size_t block = 0; block < blocks; ++block) {
      if (block % all[c].blocks_per_row < end_column * frame.components[c].h) continue;
      std::fill_n(all[c].values.begin() + static_cast<std::ptrdiff_t>(block * kBlockCoefficients), kBlockCoefficients,
                  std::int16_t{0});
    }
  }
  return all;
}

bool same(const std::vector<Coefficients>& a, const std::vector<Coefficients>& b) {
  return std::ranges::equal(a, b, [](const Coefficients& x, const Coefficients& y) { return x.values == y.values; });
}

/// What CropDecoder reports for a crop, found out segment by segment.
DecodeReport judge(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop) {
  const CropPlan plan = plan_crop(index.frame, crop);
  const Tables tables(index.frame, bytes_of(file));
  const auto ignore = [](std::uint32_t, std::uint32_t, std::uint32_t, std::int16_t) {};
  DecodeReport report;
  for (std::uint32_t row = plan.rows.first; row < plan.rows.end; ++row) {
    const std::uint32_t first = plan.columns.first / index.segment_mcus;
    const std::uint32_t last = (plan.columns.end - 1) / index.segment_mcus;
    for (std::uint32_t i = first; i <= last; ++i) {
      const std::uint32_t segment = row * index.segments_per_row() + i;
      ++report.segments;
      if (decode_segment(index, bytes_of(file) + index.frame.scan_offset, tables.of, segment, plan.columns.end,
                         ignore)) {
        continue;
      }
      if (report.damaged_segments++ == 0) report.first_damaged = segment;
    }
  }
  return report;
}

/// Counts of what was compared.
struct Tally {
  int good = 0;
  int damaged = 0;
  int refused = 0;
};

/// The whole image and a crop of it.
void compare_verdicts(std::span<const std::byte> file, std::span<const std::byte> index_bytes, Random& random,
                      Tally& tally) {
  SegmentIndex index;
  if (open_segment_index(index_bytes, file, index) != IndexStatus::ok) {
    ++tally.refused;
    return;
  }
  const Size size{index.frame.width, index.frame.height};
  for (const Rect& crop : {Rect{0, 0, size.width, size.height}, random_crop(random, size)}) {
    RgbImage image;
    CropDecoder decoder;
    const DecodeReport expected = decoder.decode(file, index, crop, image.resize({crop.width, crop.height}));
    const DecodeReport found = judge(file, index, crop);
    CHECK(found.segments == expected.segments);
    CHECK(found.damaged_segments == expected.damaged_segments);
    CHECK(found.first_damaged == expected.first_damaged);
    ++(expected.ok() ? tally.good : tally.damaged);
  }
}

void damage(Bytes& bytes, std::size_t begin, std::size_t end, Random& random) {
  const std::size_t at = begin + random() % (end - begin);
  switch (random() % 4) {
    case 0:
      bytes[at] ^= std::byte(1u << random() % 8);
      break;
    case 1:
      bytes[at] = std::byte{0xff};
      break;
    case 2:
      bytes[at] = static_cast<std::byte>(random());
      break;
    default:
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(std::min(end, at + 1 + random() % 40)),
                static_cast<std::byte>(random() % 3 == 0 ? random() : 0));
  }
}

}  // namespace

TEST_CASE("plain segments: libjpeg-turbo's coefficients, for files of every kind") {
  Random random(31);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const Sample sample = random_sample(random);
    const std::vector<Coefficients> expected = read_coefficients(sample.file);
    const std::uint32_t columns = sample.index.frame.mcus_per_row();
    const auto whole = decode_columns(sample, expected, columns);
    REQUIRE(whole);
    CHECK(same(*whole, expected));
    const std::uint32_t end_column = random() % (columns + 1);
    const auto part = decode_columns(sample, expected, end_column);
    REQUIRE(part);
    CHECK(same(*part, cut_columns(expected, sample.index.frame, end_column)));
  }
}

TEST_CASE("plain segments: an end beyond the row is the row's end") {
  Random random(5);
  const Sample sample = random_sample(random);
  const std::vector<Coefficients> expected = read_coefficients(sample.file);
  const auto made = decode_columns(sample, expected, ~std::uint32_t{0});
  REQUIRE(made);
  CHECK(same(*made, expected));
}

TEST_CASE("plain segments: of damaged files and indexes, the verdicts of CropDecoder") {
  Random random(32);
  Tally scans;
  Tally indexes;
  for (int i = 0; i < 200; ++i) {
    const Sample sample = random_sample(random);
    const Frame& frame = sample.index.frame;
    for (int k = 0; k < 5; ++k) {
      CAPTURE(i);
      CAPTURE(k);
      Bytes file = sample.file;
      damage(file, frame.scan_offset, std::size_t{frame.scan_offset} + frame.scan_size, random);
      compare_verdicts(file, sample.index_bytes, random, scans);
      Bytes index = sample.index_bytes;
      damage(index, 0, index.size(), random);
      compare_verdicts(sample.file, index, random, indexes);
    }
  }
  // So that neither side is right by never saying the one thing or the other.
  CHECK(scans.good > 200);
  CHECK(scans.damaged > 200);
  CHECK(indexes.good > 50);
  CHECK(indexes.damaged > 200);
  CHECK(indexes.refused > 50);
}
