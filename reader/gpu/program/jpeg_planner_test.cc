// Planned tasks hold all that a decoder needs: the host decodes from them what libjpeg-turbo reads from the file.
#include "reader/gpu/program/jpeg_planner.h"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/plain_segment.h"
#include "codec/jpeg/zigzag.h"
#include "reader/gpu/program/jpeg_task_check.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::gpu::testing;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;
using imgpack::jpeg::kBlockCoefficients;

namespace {

struct ImageRecord {
  Bytes file;
  Bytes index;
  RecordMeta meta;

  RecordBytes bytes() const { return {.payload = file, .segments = index}; }
};

ImageRecord record_of(Bytes file, std::uint32_t segment_mcus) {
  ImageRecord record;
  record.index = index_of(file, {.segment_mcus = segment_mcus});
  record.file = std::move(file);
  jpeg::SegmentIndex opened;
  REQUIRE(jpeg::open_segment_index(record.index, record.file, opened) == jpeg::IndexStatus::ok);
  record.meta = {.width = opened.frame.width, .height = opened.frame.height};
  return record;
}

ImageRecord random_record(Random& random) {
  const JpegOptions options = random_options(random);
  const auto width = static_cast<int>(1 + random() % 120);
  const auto height = static_cast<int>(1 + random() % 120);
  return record_of(make_jpeg(width, height, random(), options), 1 + random() % 5);
}

/// The coefficients of the part, in the order of JpegTask::coefficients, from what the device is given and no more.
std::vector<std::int16_t> decode_planned(JpegTask task, const JpegBytes& needed) {
  // Bytes that are not brought over must not matter.
  std::vector<std::uint8_t> scan(task.scan_begin, std::uint8_t{0xa5});
  for (const std::byte byte : needed.scan) scan.push_back(std::to_integer<std::uint8_t>(byte));
  task.index.frame.scan_size = task.scan_end;
  std::vector<std::uint8_t> entries;
  for (const std::byte byte : needed.entries) entries.push_back(std::to_integer<std::uint8_t>(byte));
  task.index.entries = entries.data();
  jpeg::PlainTables tables[jpeg::kMaxComponents];
  for (std::uint32_t c = 0; c < task.index.frame.component_count; ++c) {
    tables[c] = {task.tables.dc[task.table_pair[c]], task.tables.ac[task.table_pair[c]]};
  }
  constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
  const std::uint32_t first = task.plan.columns.first;
  const std::uint32_t per_mcu = task.index.frame.blocks_per_mcu();
  std::vector<std::int16_t> made(std::size_t{task.blocks()} * kBlockCoefficients);
  for (std::uint32_t i = 0; i < task.segments(); ++i) {
    const std::size_t row = std::size_t{i / task.segments_in_row} * task.columns();
    const bool good = jpeg::decode_segment(
        task.index, scan.data(), tables, task.segment(i), task.plan.columns.end,
        [&](std::uint32_t column, std::uint32_t block, std::uint32_t k, std::int16_t value) {
          if (column < first) return;
          const std::uint32_t natural = kOrder.natural[k];
          made.at(((row + column - first) * per_mcu + block) * kBlockCoefficients + natural % 8 * 8 + natural / 8) =
              value;
        });
    CHECK(good);
  }
  return made;
}

/// The same from libjpeg-turbo's.
std::vector<std::int16_t> expected_coefficients(const JpegTask& task, const std::vector<Coefficients>& all) {
  std::vector<std::int16_t> expected;
  const jpeg::Frame& frame = task.index.frame;
  for (std::uint32_t row = task.plan.rows.first; row < task.plan.rows.end; ++row) {
    for (std::uint32_t column = task.plan.columns.first; column < task.plan.columns.end; ++column) {
      for (std::uint32_t c = 0; c < frame.component_count; ++c) {
        const jpeg::Component& component = frame.components[c];
        for (std::uint32_t b = 0; b < std::uint32_t{component.h} * component.v; ++b) {
          const std::size_t x = std::size_t{column} * component.h + b % component.h;
          const std::size_t y = std::size_t{row} * component.v + b / component.h;
          const std::int16_t* const block = all[c].values.data() + (y * all[c].blocks_per_row + x) * kBlockCoefficients;
          for (std::uint32_t i = 0; i < kBlockCoefficients; ++i) expected.push_back(block[i % 8 * 8 + i / 8]);
        }
      }
    }
  }
  return expected;
}

}  // namespace

TEST_CASE("jpeg planner: what is planned is all that decoding the part needs") {
  Random random(41);
  for (int i = 0; i < 150; ++i) {
    CAPTURE(i);
    const ImageRecord record = random_record(random);
    const std::vector<Coefficients> all = read_coefficients(record.file);
    const Size size{record.meta.width, record.meta.height};
    for (const Rect& part :
         {Rect{0, 0, size.width, size.height}, random_crop(random, size), random_crop(random, size)}) {
      JpegTask task;
      JpegBytes needed;
      REQUIRE(plan_jpeg(record.meta, record.bytes(), part, task, needed));
      CHECK(broken_promise(task, needed, record.file, part) == "");
      CHECK(decode_planned(task, needed) == expected_coefficients(task, all));
    }
  }
}

TEST_CASE("jpeg planner: a small part needs a small share of the scan") {
  const ImageRecord record = record_of(make_jpeg(400, 400, 3, {.sampling = {{1, 1}, {1, 1}, {1, 1}}}), 4);
  JpegTask task;
  JpegBytes needed;
  REQUIRE(plan_jpeg(record.meta, record.bytes(), {0, 0, 400, 8}, task, needed));
  CHECK(task.rows() == 1);
  CHECK(task.columns() == 50);
  CHECK(needed.scan.size() < record.file.size() / 20);
  REQUIRE(plan_jpeg(record.meta, record.bytes(), {33, 100, 20, 20}, task, needed));
  CHECK(task.columns() == 3);
  CHECK(task.rows() == 3);
  CHECK(task.segments_in_row == 1);
  CHECK(task.blocks() == 27);
}

TEST_CASE("jpeg planner: quantisation values in the order of coefficients in memory, of one and of two bytes") {
  for (const std::uint16_t first : {std::uint16_t{1}, std::uint16_t{300}}) {
    std::vector<std::uint16_t> quant(kBlockCoefficients);
    std::iota(quant.begin(), quant.end(), first);
    const auto fill = [](int, std::uint32_t x, std::uint32_t y, std::span<std::int16_t> block) {
      block[0] = static_cast<std::int16_t>(x - y);
    };
    const ImageRecord record = record_of(write_coefficients(3, 4, 4, quant, fill), 2);
    JpegTask task;
    JpegBytes needed;
    REQUIRE(plan_jpeg(record.meta, record.bytes(), {0, 0, 32, 32}, task, needed));
    for (std::uint32_t c = 0; c < 3; ++c) {
      for (std::uint32_t y = 0; y < 8; ++y) {
        for (std::uint32_t x = 0; x < 8; ++x) CHECK(task.tables.quant[c][x * 8 + y] == quant[y * 8 + x]);
      }
    }
  }
}

TEST_CASE("jpeg planner: records that are left to the host") {
  const ImageRecord record = record_of(make_jpeg(60, 40, 7, {}), 2);
  const Rect part{5, 5, 20, 20};
  JpegTask task;
  JpegBytes needed;
  REQUIRE(plan_jpeg(record.meta, record.bytes(), part, task, needed));

  CHECK(!plan_jpeg(record.meta, {.payload = record.file, .segments = {}}, part, task, needed));
  RecordMeta other_size = record.meta;
  ++other_size.width;
  CHECK(!plan_jpeg(other_size, record.bytes(), part, task, needed));
  const Bytes short_file(record.file.begin(), record.file.end() - 40);
  CHECK(!plan_jpeg(record.meta, {.payload = short_file, .segments = record.index}, part, task, needed));
  const ImageRecord other = record_of(make_jpeg(60, 40, 8, {}), 2);
  CHECK(!plan_jpeg(record.meta, {.payload = record.file, .segments = other.index}, part, task, needed));
}

TEST_CASE("jpeg planner: three pairs of tables are too many") {
  const ImageRecord two = record_of(make_jpeg(40, 40, 5, {}), 2);
  const Rect part{0, 0, 40, 40};
  JpegTask task;
  JpegBytes needed;
  REQUIRE(plan_jpeg(two.meta, two.bytes(), part, task, needed));

  // The third component gets a DC table of its own, with the same content, in slot 2.
  const auto table = two.file.begin() + task.index.frame.components[2].dc_offset;
  std::size_t size = jpeg::kHuffmanCounts;
  for (std::uint32_t i = 0; i < jpeg::kHuffmanCounts; ++i) size += std::to_integer<std::size_t>(table[i]);
  Bytes segment = {std::byte{0xff}, std::byte{0xc4}, std::byte{0}, static_cast<std::byte>(size + 3), std::byte{2}};
  segment.insert(segment.end(), table, table + static_cast<std::ptrdiff_t>(size));
  Bytes file = two.file;
  constexpr std::byte kScanHeader[] = {std::byte{0xff}, std::byte{0xda}, std::byte{0}, std::byte{12}, std::byte{3}};
  const auto header = std::ranges::search(file, kScanHeader).begin();
  REQUIRE(header != file.end());
  header[10] = std::byte{0x21};
  file.insert(header, segment.begin(), segment.end());
  const ImageRecord three = record_of(std::move(file), 2);
  CHECK(!plan_jpeg(three.meta, three.bytes(), part, task, needed));
}

TEST_CASE("jpeg planner: indexes that contradict themselves are refused, or planned within bounds") {
  Random random(43);
  int refused = 0;
  int planned = 0;
  for (int i = 0; i < 100; ++i) {
    const ImageRecord record = random_record(random);
    for (int k = 0; k < 20; ++k) {
      Bytes damaged = record.index;
      const std::size_t at = random() % (damaged.size() - 1);
      if (random() % 4 == 0) {
        std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(at), damaged.end() - 1, std::byte{0xff});
      } else {
        damaged[at] = static_cast<std::byte>(random());
      }
      jpeg::SegmentIndex index;
      if (jpeg::open_segment_index(damaged, record.file, index) != jpeg::IndexStatus::ok) continue;
      const Rect part = random_crop(random, {record.meta.width, record.meta.height});
      JpegTask task;
      JpegBytes needed;
      if (plan_jpeg(record.meta, {.payload = record.file, .segments = damaged}, part, task, needed)) {
        ++planned;
        CHECK(broken_promise(task, needed, record.file, part) == "");
        continue;
      }
      ++refused;
      RgbImage image;
      jpeg::CropDecoder host;
      CHECK(!host.decode(record.file, index, part, image.resize({part.width, part.height})).ok());
    }
  }
  CHECK(refused > 10);
  CHECK(planned > 200);
}
