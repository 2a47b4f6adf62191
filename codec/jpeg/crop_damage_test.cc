// Damaged files with their old index, and damaged indexes: what the report says, and which pixels stay right.
#include <doctest/doctest.h>

#include <algorithm>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "tests/support/damage.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

/// A file with a few MCUs a segment, and its index.
struct Sample {
  Sample(int width, int height, std::uint32_t seed, const JpegOptions& options, std::uint32_t segment_mcus)
      : file(make_jpeg(width, height, seed, options)),
        index_bytes(index_of(file, {.segment_mcus = segment_mcus})),
        reference(decode_rgb(file)) {
    REQUIRE(open_segment_index(index_bytes, file, index) == IndexStatus::ok);
  }
  Rect whole() const { return {0, 0, reference.size.width, reference.size.height}; }

  Bytes file;
  Bytes index_bytes;
  SegmentIndex index;
  Reference reference;
};

std::vector<Sample> samples() {
  std::vector<Sample> all;
  all.emplace_back(70, 50, 1, JpegOptions{.gray = true}, 3);
  all.emplace_back(70, 50, 2, JpegOptions{}, 2);
  all.emplace_back(50, 50, 3, JpegOptions{.sampling = {{1, 1}, {1, 1}, {1, 1}}, .noise = 100}, 2);
  all.emplace_back(70, 30, 4, JpegOptions{.sampling = {{2, 1}, {1, 1}, {1, 1}}, .restart_interval = 3}, 2);
  all.emplace_back(40, 70, 5, JpegOptions{.sampling = {{1, 2}, {1, 1}, {1, 1}}, .restart_interval = 1}, 1);
  all.emplace_back(60, 60, 6, JpegOptions{.quality = 40, .optimize = true}, 1);
  return all;
}

DecodeReport decode(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop, RgbImage& out) {
  CropDecoder decoder;
  return decoder.decode(file, index, crop, out.resize({crop.width, crop.height}));
}

/// The pixels that segment `segment` has an influence on: its MCUs and, because of upsampling, up to a sample around.
Rect influence(const SegmentIndex& index, std::uint32_t segment) {
  const Frame& frame = index.frame;
  const std::uint32_t per_row = index.segments_per_row();
  const std::uint32_t first = segment % per_row * index.segment_mcus;
  const std::uint32_t end = std::min(first + index.segment_mcus, frame.mcus_per_row());
  const std::uint32_t row = segment / per_row;
  const std::uint32_t left = first * frame.mcu_width();
  const std::uint32_t top = row * frame.mcu_height();
  const std::uint32_t right = std::min(end * frame.mcu_width() + 1, frame.width);
  const std::uint32_t bottom = std::min((row + 1) * frame.mcu_height() + 1, frame.height);
  Rect rect;
  rect.x = left == 0 ? 0 : left - 1;
  rect.y = top == 0 ? 0 : top - 1;
  rect.width = right - rect.x;
  rect.height = bottom - rect.y;
  return rect;
}

bool contains(const Rect& rect, std::uint32_t x, std::uint32_t y) {
  return x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
}

/// Segments that have bits in byte `byte` of the scan or beside it (stuffing ties a byte to its neighbours).
std::vector<Rect> influences_of_byte(const SegmentIndex& index, std::uint32_t byte) {
  std::vector<Rect> rects;
  for (std::uint32_t segment = 0; segment < index.segment_count(); ++segment) {
    const std::uint32_t begin = index.start(segment).bit / 8;
    const bool last = segment + 1 == index.segment_count();
    const std::uint32_t end = last ? index.frame.scan_size : index.start(segment + 1).bit / 8;
    if (begin <= byte + 1 && byte <= end + 1) rects.push_back(influence(index, segment));
  }
  return rects;
}

/// Whether all pixels outside `rects` are the reference's.
bool others_are_right(const Sample& sample, const RgbImage& image, const std::vector<Rect>& rects) {
  const auto [width, height] = sample.reference.size;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      const bool touched = std::ranges::any_of(rects, [&](const Rect& rect) { return contains(rect, x, y); });
      const std::uint8_t* expected = sample.reference.pixels.data() + (std::size_t{y} * width + x) * 3;
      if (!touched && !std::equal(expected, expected + 3, image.view().row(y) + std::size_t{x} * 3)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("a damaged scan: reported, or decoded as libjpeg-turbo decodes it; segments beside it are not touched") {
  int reported = 0;
  int unnoticed = 0;
  for (const Sample& sample : samples()) {
    const std::uint32_t scan = sample.index.frame.scan_offset;
    const std::uint32_t scan_end = scan + sample.index.frame.scan_size;
    RgbImage image;
    RgbImage again;
    for_each_flip(sample.file, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      if (offset < scan || offset >= scan_end) return;
      CAPTURE(offset - scan);
      const DecodeReport report = decode(bytes, sample.index, sample.whole(), image);
      CHECK(
          others_are_right(sample, image, influences_of_byte(sample.index, static_cast<std::uint32_t>(offset - scan))));
      if (report.ok()) {
        CHECK(decode_rgb(bytes).equals(image.view(), sample.whole()));
        ++unnoticed;
        return;
      }
      ++reported;
      CHECK(report.damaged_segments <= 4);
      const DecodeReport second = decode(bytes, sample.index, sample.whole(), again);
      CHECK(second.first_damaged == report.first_damaged);
      CHECK(std::ranges::equal(image.bytes(), again.bytes()));
    });
  }
  MESSAGE(reported << " flips reported, " << unnoticed << " changed coefficients only");
  CHECK(reported > unnoticed);
}

TEST_CASE("a scan that ends too soon: what is there is right, the rest is reported") {
  for (const Sample& sample : samples()) {
    const std::uint32_t scan = sample.index.frame.scan_offset;
    for_each_cut(sample.file, 3, [&](std::span<const std::byte> bytes) {
      if (bytes.size() <= scan) return;
      // The index no longer opens; with the space behind the cut filled, it does.
      SegmentIndex index;
      CHECK((open_segment_index(sample.index_bytes, bytes, index) == IndexStatus::ok) ==
            (bytes.size() >= scan + sample.index.frame.scan_size));
      if (bytes.size() >= scan + sample.index.frame.scan_size) return;
      Bytes filled(bytes.begin(), bytes.end());
      filled.resize(sample.file.size());
      RgbImage image;
      const DecodeReport report = decode(filled, sample.index, sample.whole(), image);
      std::vector<Rect> rects;
      for (std::uint32_t segment = 0; segment < sample.index.segment_count(); ++segment) {
        const bool last = segment + 1 == sample.index.segment_count();
        if (last || scan + sample.index.start(segment + 1).bit / 8 + 2 >= bytes.size()) {
          rects.push_back(influence(sample.index, segment));
        }
      }
      CHECK(others_are_right(sample, image, rects));
      if (report.ok()) CHECK(decode_rgb(filled).equals(image.view(), sample.whole()));
    });
  }
}

TEST_CASE("a damaged index: refused, reported, or harmless") {
  int refused = 0;
  int reported = 0;
  for (const Sample& sample : samples()) {
    RgbImage image;
    for_each_flip(sample.index_bytes, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      CAPTURE(offset);
      SegmentIndex index;
      if (open_segment_index(bytes, sample.file, index) != IndexStatus::ok) {
        ++refused;
        return;
      }
      const DecodeReport report = decode(sample.file, index, sample.whole(), image);
      reported += !report.ok();
      CHECK((!report.ok() || sample.reference.equals(image.view(), sample.whole())));
    });
  }
  CHECK(refused > 500);
  CHECK(reported > 500);
}

TEST_CASE("what a crop does not notice of a damaged index, the whole image does") {
  for (const Sample& sample : samples()) {
    RgbImage image;
    const std::uint32_t right = std::min(sample.reference.size.width, 2 * sample.index.frame.mcu_width() + 3);
    const Rect crop{3, 9, right - 3, 20};
    for_each_flip(sample.index_bytes, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      CAPTURE(offset);
      SegmentIndex index;
      if (open_segment_index(bytes, sample.file, index) != IndexStatus::ok) return;
      RgbImage again;
      const DecodeReport report = decode(sample.file, index, crop, image);
      decode(sample.file, index, crop, again);
      CHECK(std::ranges::equal(image.bytes(), again.bytes()));
      // The whole image tells at any rate.
      if (report.ok() && !sample.reference.equals(image.view(), crop)) {
        CHECK(!decode(sample.file, index, sample.whole(), again).ok());
      }
    });
  }
}

TEST_CASE("indexes of other files") {
  const std::vector<Sample> all = samples();
  for (const Sample& a : all) {
    for (const Sample& b : all) {
      SegmentIndex index;
      if (&a == &b || open_segment_index(a.index_bytes, b.file, index) != IndexStatus::ok) continue;
      RgbImage image;
      const DecodeReport report = decode(b.file, index, a.whole(), image);
      CHECK(!report.ok());
    }
  }
}
