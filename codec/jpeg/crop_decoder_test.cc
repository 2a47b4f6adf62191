// Crops of valid files: they are the same rectangles of libjpeg-turbo's whole decode. Damage is in
// crop_damage_test.cc.
#include "codec/jpeg/crop_decoder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/jpeg_test_support.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

/// A file, its index and its pixels.
struct Indexed {
  explicit Indexed(Bytes bytes, const IndexOptions& options = {})
      : file(std::move(bytes)), index_bytes(index_of(file, options)), reference(decode_rgb(file)) {
    if (open_segment_index(index_bytes, file, index) != IndexStatus::ok) throw std::runtime_error("bad index");
    if (!reference.ok) throw std::runtime_error(reference.message);
  }
  Bytes file;
  Bytes index_bytes;
  SegmentIndex index;
  Reference reference;
};

/// Every three components' sampling factors that a decoder may meet: 311 of them.
std::vector<std::vector<JpegSampling>> allowed_samplings() {
  std::vector<std::vector<JpegSampling>> allowed;
  constexpr std::uint32_t kFactorBits = 2;
  for (std::uint32_t bits = 0; bits < 1u << (6 * kFactorBits); ++bits) {
    Frame frame{.width = 1, .height = 1, .color = ColorModel::ycbcr, .component_count = 3};
    std::vector<JpegSampling> sampling;
    for (std::uint32_t c = 0; c < 3; ++c) {
      frame.components[c].h = static_cast<std::uint8_t>(1 + (bits >> (4 * c) & 3));
      frame.components[c].v = static_cast<std::uint8_t>(1 + (bits >> (4 * c + 2) & 3));
      sampling.push_back({frame.components[c].h, frame.components[c].v});
    }
    if (has_valid_geometry(frame)) allowed.push_back(std::move(sampling));
  }
  return allowed;
}

/// Somewhere to put a crop, with more bytes around it and between its rows, which nobody may touch.
class GuardedImage {
 public:
  RgbView reset(const Rect& crop) {
    stride_ = std::size_t{crop.width} * 3 + kGap;
    view_ = {nullptr, crop.width, crop.height, stride_};
    bytes_.assign(kGap + stride_ * crop.height, kGuard);
    view_.pixels = bytes_.data() + kGap;
    return view_;
  }
  ConstRgbView view() const { return view_; }
  bool guards_are_whole() const {
    for (std::size_t at = 0; at < bytes_.size(); at += stride_) {
      const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(at);
      if (!std::all_of(begin, begin + kGap, [](std::uint8_t byte) { return byte == kGuard; })) return false;
    }
    return true;
  }

 private:
  static constexpr std::ptrdiff_t kGap = 70;
  static constexpr std::uint8_t kGuard = 0xa5;
  std::vector<std::uint8_t> bytes_;
  std::size_t stride_ = 0;
  RgbView view_;
};

/// Copies rows and sees that they come one after the other.
class OrderedRows final : public RowSink {
 public:
  explicit OrderedRows(RgbView out) : copy_(out), height_(out.height) {}
  void take(std::uint32_t y, ConstRgbView rows) override {
    in_order_ = in_order_ && y == next_ && rows.height != 0;
    next_ = y + rows.height;
    copy_.take(y, rows);
  }
  bool complete() const { return in_order_ && next_ == height_; }

 private:
  CopyRows copy_;
  std::uint32_t height_;
  std::uint32_t next_ = 0;
  bool in_order_ = true;
};

/// Whether the crop, decoded both ways, is that part of the reference.
bool crop_is_right(CropDecoder& decoder, const Indexed& image, const Rect& crop) {
  GuardedImage direct;
  const DecodeReport report = decoder.decode(image.file, image.index, crop, direct.reset(crop));
  GuardedImage by_rows;
  OrderedRows rows(by_rows.reset(crop));
  const DecodeReport again = decoder.decode(image.file, image.index, crop, rows);
  return report.ok() && again.ok() && report.segments == again.segments && rows.complete() &&
         direct.guards_are_whole() && image.reference.equals(direct.view(), crop) &&
         image.reference.equals(by_rows.view(), crop);
}

struct FailingRows final : RowSink {
  void take(std::uint32_t, ConstRgbView) override { throw std::runtime_error("no more"); }
};

}  // namespace

TEST_CASE("80,000 crops of files of every kind") {
  Random random(1);
  CropDecoder decoder;  // one for all: nothing of a file may be left over for the next
  int crops = 0;
  for (int i = 0; i < 10000; ++i) {
    const JpegOptions options = random_options(random);
    const std::uint32_t most = i % 50 == 0 ? 300 : 1 + static_cast<std::uint32_t>(i) % 80;
    const auto width = static_cast<int>(1 + random() % most);
    const auto height = static_cast<int>(1 + random() % most);
    const std::uint32_t seed = random();
    const Indexed image(make_jpeg(width, height, seed, options), {.segment_mcus = random() % 4});
    CAPTURE(i);
    CAPTURE(width);
    CAPTURE(height);
    for (int k = 0; k < 8; ++k, ++crops) {
      const Rect crop = random_crop(random, image.reference.size);
      CAPTURE(crop.x);
      CAPTURE(crop.y);
      CAPTURE(crop.width);
      CAPTURE(crop.height);
      CHECK(crop_is_right(decoder, image, crop));
    }
  }
  CHECK(crops == 80000);
}

TEST_CASE("each pixel on its own, each row and each column, for every subsampling") {
  CropDecoder decoder;
  for (const auto& sampling : all_samplings()) {
    CAPTURE(&sampling - all_samplings().data());
    JpegOptions options;
    options.sampling = sampling;
    options.noise = 256;
    const Indexed image(make_jpeg(35, 37, 2, options), {.segment_mcus = 1});
    const auto [width, height] = image.reference.size;
    bool all_right = true;
    for (std::uint32_t y = 0; y < height; ++y) {
      all_right = all_right && crop_is_right(decoder, image, {0, y, width, 1});
      for (std::uint32_t x = 0; x < width; ++x) {
        all_right = all_right && crop_is_right(decoder, image, {x, y, 1, 1});
      }
    }
    for (std::uint32_t x = 0; x < width; ++x) {
      all_right = all_right && crop_is_right(decoder, image, {x, 0, 1, height});
    }
    CHECK(all_right);
  }
}

TEST_CASE("every combination of sampling factors that is allowed") {
  CropDecoder decoder;
  Random random(11);
  const auto samplings = allowed_samplings();
  CHECK(samplings.size() == 311);
  constexpr Size kSizes[] = {{1, 1}, {2, 3}, {3, 2}, {5, 40}, {33, 17}, {64, 64}, {70, 67}};
  for (const auto& sampling : samplings) {
    CAPTURE(&sampling - samplings.data());
    JpegOptions options;
    options.sampling = sampling;
    for (const Size size : kSizes) {
      CAPTURE(size.width);
      options.restart_interval = random() % 3;
      const Indexed image(make_jpeg(size.width, size.height, random(), options), {.segment_mcus = random() % 4});
      bool all_right = crop_is_right(decoder, image, {0, 0, size.width, size.height});
      for (int i = 0; i < 6; ++i) all_right = all_right && crop_is_right(decoder, image, random_crop(random, size));
      CHECK(all_right);
    }
  }
}

TEST_CASE("only the segments that a crop touches are decoded") {
  JpegOptions options;
  options.sampling = {{1, 1}, {1, 1}, {1, 1}};
  const Indexed plain(make_jpeg(80, 80, 1, options), {.segment_mcus = 2});  // 5 segments a row, 10 rows
  const Indexed fancy(make_jpeg(160, 160, 1), {.segment_mcus = 2});         // the same, MCUs of 16x16
  CropDecoder decoder;
  RgbImage out;
  const auto segments = [&](const Indexed& image, const Rect& crop) {
    return decoder.decode(image.file, image.index, crop, out.resize({crop.width, crop.height})).segments;
  };
  CHECK(segments(plain, {0, 0, 80, 80}) == 50);
  CHECK(segments(plain, {16, 8, 16, 8}) == 1);
  CHECK(segments(plain, {15, 8, 17, 8}) == 2);
  CHECK(segments(plain, {16, 7, 16, 10}) == 3);
  CHECK(segments(fancy, {34, 18, 28, 12}) == 1);
  CHECK(segments(fancy, {32, 16, 32, 16}) == 9);  // and a sample on each side
  CHECK(segments(fancy, {0, 0, 30, 14}) == 1);
}

TEST_CASE("what a sink throws comes out, and the decoder goes on with the next file") {
  const Indexed image(make_jpeg(60, 60, 1));
  CropDecoder decoder;
  FailingRows failing;
  CHECK_THROWS_AS(decoder.decode(image.file, image.index, {0, 0, 60, 60}, failing), std::runtime_error);
  CHECK(crop_is_right(decoder, image, {3, 5, 50, 40}));
  CropDecoder moved = std::move(decoder);
  CHECK(crop_is_right(moved, image, {3, 5, 50, 40}));
}

TEST_CASE("crops of real files") {
  if (external_data().empty()) {
    MESSAGE("IMGPACK_TEST_DATA is not set: skipped");
    return;
  }
  Random random(5);
  CropDecoder decoder;
  int crops = 0;
  const auto check = [&](const std::filesystem::path& path, int count) {
    CAPTURE(path);
    const Bytes file = read_file(path);
    if (parse(file).indexability != Indexability::indexable || file.size() > (1u << 20)) return;
    IndexBuilder builder;
    ByteBuffer bytes;
    if (builder.build(file, {}, bytes) != Indexability::indexable) return;
    const Indexed image(file);
    for (int i = 0; i < count; ++i, ++crops) {
      CHECK(crop_is_right(decoder, image, random_crop(random, image.reference.size)));
    }
  };
  for (const auto& path : files_below(external_data() / "imagenet-sample")) check(path, 6);
  const int of_sample = crops;
  for (const auto& path : files_below(external_data() / "odd")) check(path, 100);
  MESSAGE(of_sample << " crops of ImageNet's files, " << crops - of_sample << " of odd ones");
  CHECK(of_sample > 2000);
  CHECK(crops - of_sample >= 2000);
}
