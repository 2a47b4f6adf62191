// JPEG's coefficients and samples by the kernels, compared with libjpeg-turbo's and with the plain decoder of the host.
#include "reader/gpu/kernels/jpeg_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/plain_segment.h"
#include "codec/jpeg/zigzag.h"
#include "reader/gpu/program/jpeg_planner.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

/// A planned part of a file, and the memory that a device would have for it.
class Decoding {
 public:
  Decoding(const Bytes& file, std::uint32_t segment_mcus, const Rect& part)
      : index_(index_of(file, {.segment_mcus = segment_mcus})) {
    RecordMeta meta{.codec = Codec::jpeg};
    jpeg::SegmentIndex opened;
    REQUIRE(jpeg::open_segment_index(index_, file, opened) == jpeg::IndexStatus::ok);
    meta.width = opened.frame.width;
    meta.height = opened.frame.height;
    meta.channels = static_cast<std::uint8_t>(opened.frame.component_count);
    meta.payload_size = file.size();
    meta.segments_size = index_.size();
    JpegBytes needed;
    REQUIRE(plan_jpeg(meta, {file, index_}, part, task_, needed));
    entries_.assign(needed.entries.begin(), needed.entries.end());
    scan_.resize(kMargin, kGarbage);
    scan_.insert(scan_.end(), needed.scan.begin(), needed.scan.end());
    scan_.resize(scan_.size() + kMargin, kGarbage);
    infos_.resize(task_.segments());
    std::memset(static_cast<void*>(infos_.data()), static_cast<int>(kGarbage), infos_.size() * sizeof(SegmentInfo));
    Sixteen garbage;
    std::ranges::fill(garbage.bytes, kGarbage);
    streams_.resize((task_.scan_end - task_.scan_begin) / 16 + 2 * (std::size_t{task_.segments()} + 2), garbage);
    coefficients_.resize(task_.blocks() * std::size_t{8});
    left_.resize(task_.segments());
    task_.index.entries = reinterpret_cast<const std::uint8_t*>(entries_.data());
    task_.scan = reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(scan_.data() + kMargin) -
                                                       task_.scan_begin);
    task_.infos = infos_.data();
    task_.streams = reinterpret_cast<std::uint8_t*>(streams_.data());
    task_.coefficients = reinterpret_cast<std::int16_t*>(coefficients_.data());
  }

  JpegTask& task() { return task_; }
  std::span<std::byte> scan() { return std::span(scan_).subspan(kMargin, scan_.size() - 2 * kMargin); }
  std::span<std::byte> entries() { return entries_; }

  /// As Wave::launch().
  void run() {
    const LeftSegments left{&left_count_, left_.data()};
    launch_unstuff(&task_, works(kUnstuffSegments).data(), blocks(kUnstuffSegments), nullptr);
    launch_entropy_decode(&task_, works(kEntropySegments).data(), blocks(kEntropySegments), left, nullptr);
    cudaDeviceSynchronize();
    if (left_count_ == 0) return;
    launch_plain_decode(&task_, left, &damaged_, nullptr);  // starts many blocks, for nothing else
    cudaDeviceSynchronize();
  }
  /// After run(): makes samples, and coefficients zeros.
  void transform() {
    std::uint32_t groups = 0;
    for (std::uint32_t c = 0; c < task_.index.frame.component_count; ++c) {
      groups += task_.block_groups(c);
      planes_[c].resize(std::size_t{task_.planes[c].stride} * task_.rows() * task_.index.frame.components[c].v * 8);
      task_.planes[c].samples = planes_[c].data();
    }
    works_.clear();
    for (std::uint32_t part = 0; part < ceil_div(groups, kInverseGroups); ++part) works_.push_back({0, part});
    launch_inverse_transform(&task_, works_.data(), static_cast<std::uint32_t>(works_.size()), nullptr);
    cudaDeviceSynchronize();
  }
  std::uint32_t left_count() const { return left_count_; }
  std::uint32_t damaged() const { return damaged_; }
  std::span<const std::int16_t> coefficients() const { return {task_.coefficients, task_.blocks() * std::size_t{64}}; }

  /// What the host's plain decoder says of a segment, into `out`, which is like coefficients().
  bool decode_plainly(std::uint32_t i, std::span<std::int16_t> out) const {
    jpeg::SegmentIndex index = task_.index;
    index.frame.scan_size = std::min(index.frame.scan_size, task_.scan_end);
    if (index.start(task_.segment(i)).bit / 8 < task_.scan_begin) return false;
    jpeg::PlainTables tables[jpeg::kMaxComponents];
    for (std::uint32_t c = 0; c < index.frame.component_count; ++c) {
      tables[c] = {task_.tables.dc[task_.table_pair[c]], task_.tables.ac[task_.table_pair[c]]};
    }
    const jpeg::McuRange& columns = task_.plan.columns;
    return jpeg::decode_segment(index, task_.scan, tables, task_.segment(i), columns.end,
                                [&](std::uint32_t column, std::uint32_t block, std::uint32_t k, std::int16_t value) {
                                  if (column >= columns.first) out[place(i, column, block) + natural_place(k)] = value;
                                });
  }
  /// Whether all coefficients of a segment are those.
  bool equals(std::uint32_t i, std::span<const std::int16_t> expected) const {
    const std::uint32_t per_mcu = task_.index.frame.blocks_per_mcu();
    const std::uint32_t begin = (task_.first_segment + i % task_.segments_in_row) * task_.index.segment_mcus;
    const std::uint32_t end = std::min(begin + task_.index.segment_mcus, task_.plan.columns.end);
    bool same = true;
    for (std::uint32_t column = std::max(begin, task_.plan.columns.first); column < end; ++column) {
      const std::size_t at = place(i, column, 0);
      same = same && std::ranges::equal(coefficients().subspan(at, per_mcu * 64), expected.subspan(at, per_mcu * 64));
    }
    return same;
  }
  std::size_t place(std::uint32_t i, std::uint32_t column, std::uint32_t block) const {
    const std::size_t row = std::size_t{i / task_.segments_in_row} * task_.columns();
    return ((row + column - task_.plan.columns.first) * task_.index.frame.blocks_per_mcu() + block) * 64;
  }
  static std::size_t natural_place(std::uint32_t k) {
    constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
    return kOrder.natural[k] % 8 * 8 + kOrder.natural[k] / 8;
  }

 private:
  static constexpr std::size_t kMargin = 16;
  static constexpr std::byte kGarbage{0xcd};  ///< what is in a device's memory before

  std::uint32_t blocks(std::uint32_t segments_of_block) const { return ceil_div(task_.segments(), segments_of_block); }
  std::vector<Work>& works(std::uint32_t segments_of_block) {
    works_.clear();
    for (std::uint32_t part = 0; part < blocks(segments_of_block); ++part) works_.push_back({.task = 0, .part = part});
    return works_;
  }

  struct alignas(16) Sixteen {
    std::byte bytes[16];
  };

  Bytes index_;
  Bytes entries_;
  Bytes scan_;
  std::vector<SegmentInfo> infos_;
  std::vector<Sixteen> streams_;
  std::vector<Sixteen> coefficients_;
  std::vector<LeftSegment> left_;
  std::vector<std::uint8_t> planes_[jpeg::kMaxComponents];
  std::vector<Work> works_;
  std::uint32_t left_count_ = 0;
  std::uint32_t damaged_ = kNotDamaged;
  JpegTask task_;
};

/// libjpeg-turbo's coefficients of the part, in the order of the kernels'.
void check_coefficients(const Decoding& decoding, JpegTask& task, const Bytes& file) {
  const std::vector<Coefficients> all = read_coefficients(file);
  const jpeg::Frame& frame = task.index.frame;
  std::size_t wrong = 0;
  for (std::uint32_t row = task.plan.rows.first; row < task.plan.rows.end; ++row) {
    for (std::uint32_t column = task.plan.columns.first; column < task.plan.columns.end; ++column) {
      std::uint32_t block = 0;
      for (std::uint32_t c = 0; c < frame.component_count; ++c) {
        const jpeg::Component& component = frame.components[c];
        for (std::uint32_t b = 0; b < std::uint32_t{component.h} * component.v; ++b, ++block) {
          const std::size_t x = column * component.h + b % component.h;
          const std::size_t y = row * component.v + b / component.h;
          const std::int16_t* const expected = &all[c].values[(y * all[c].blocks_per_row + x) * 64];
          const std::uint32_t segment = (row - task.plan.rows.first) * task.segments_in_row;
          const auto made = decoding.coefficients().subspan(decoding.place(segment, column, block), 64);
          for (std::uint32_t i = 0; i < 64; ++i) wrong += made[i % 8 * 8 + i / 8] != expected[i] ? 1 : 0;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("coefficients are libjpeg-turbo's, for every kind of file and part") {
  Random random(11);
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    const JpegOptions options = random_options(random);
    const auto width = static_cast<int>(1 + random() % 300);
    const auto height = static_cast<int>(1 + random() % 200);
    const Bytes file = make_jpeg(width, height, random(), options);
    const Size size = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
    const Rect part = round % 2 == 0 ? Rect{0, 0, size.width, size.height} : random_crop(random, size);
    Decoding decoding(file, 1 + random() % 5, part);
    decoding.run();
    CHECK(decoding.left_count() == 0);
    check_coefficients(decoding, decoding.task(), file);
  }
}

TEST_CASE("coefficients are libjpeg-turbo's, for real files" *
          doctest::skip(std::getenv("IMGPACK_TEST_DATA") == nullptr)) {
  constexpr std::size_t kEvery = 32;  // a whole file takes a while
  std::size_t number = 0;
  int decoded = 0;
  Random random(14);
  for (const auto& path : files_below(external_data() / "imagenet-sample")) {
    if (number++ % kEvery != 0) continue;
    CAPTURE(path);
    const Bytes file = read_file(path);
    jpeg::IndexBuilder builder;
    ByteBuffer index;
    if (builder.build(file, {}, index) != jpeg::Indexability::indexable) continue;
    jpeg::SegmentIndex opened;
    REQUIRE(jpeg::open_segment_index(index.bytes(), file, opened) == jpeg::IndexStatus::ok);
    Decoding decoding(file, 0, random_crop(random, {opened.frame.width, opened.frame.height}));
    decoding.run();
    CHECK(decoding.left_count() == 0);
    check_coefficients(decoding, decoding.task(), file);
    ++decoded;
  }
  CHECK(decoded > 10);
}

TEST_CASE("samples of gray images are libjpeg-turbo's, and what is left of coefficients is zeros") {
  Random random(13);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    JpegOptions options = random_options(random);
    options.gray = true;
    options.sampling = {};
    const Size size = {1 + random() % 200, 1 + random() % 150};
    const Bytes file = make_jpeg(static_cast<int>(size.width), static_cast<int>(size.height), random(), options);
    const Reference expected = decode_gray(file);
    REQUIRE(expected.ok);
    const Rect part = round % 2 == 0 ? Rect{0, 0, size.width, size.height} : random_crop(random, size);
    Decoding decoding(file, 1 + random() % 5, part);
    decoding.run();
    decoding.transform();
    CHECK(std::ranges::count(decoding.coefficients(), 0) == std::ssize(decoding.coefficients()));
    const JpegTask& task = decoding.task();
    std::size_t wrong = 0;
    for (std::uint32_t y = part.y; y < part.y + part.height; ++y) {
      for (std::uint32_t x = part.x; x < part.x + part.width; ++x) {
        const std::size_t made =
            std::size_t{y - task.plan.rows.first * 8} * task.planes[0].stride + (x - task.plan.columns.first * 8);
        wrong += task.planes[0].samples[made] != expected.pixels[std::size_t{y} * size.width + x] ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("damaged streams and indexes: what the fast decoder passes is right, and all else is left to the plain one") {
  Random random(12);
  std::uint32_t damaged = 0;
  std::uint32_t left = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const Bytes file = make_jpeg(160, 96, random(), random_options(random));
    Decoding decoding(file, 1 + random() % 4, round % 2 == 0 ? Rect{0, 0, 160, 96} : random_crop(random, {160, 96}));
    const std::span<std::byte> hit = round % 3 == 0 ? decoding.entries() : decoding.scan();
    for (std::uint32_t i = 0; i < 1 + random() % 3; ++i) hit[random() % hit.size()] = static_cast<std::byte>(random());
    decoding.run();
    std::vector<std::int16_t> expected(decoding.coefficients().size());
    std::uint32_t first_damaged = kNotDamaged;
    for (std::uint32_t i = 0; i < decoding.task().segments(); ++i) {
      if (decoding.decode_plainly(i, expected)) {
        CHECK(decoding.equals(i, expected));
      } else {
        first_damaged = std::min(first_damaged, decoding.task().segment(i));
      }
    }
    CHECK(decoding.damaged() == first_damaged);
    damaged += first_damaged != kNotDamaged ? 1 : 0;
    left += decoding.left_count();
  }
  CHECK(damaged > 10);
  CHECK(left > damaged);
}
