// Records of every codec, decoded in every way: whole, cropped, damaged, and with a size that is not theirs.
#include "codec/decode.h"
#include "codec/jpeg/index_builder.h"
#include "codec/other/other_image.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "codec/decode_samples.h"
#include "codec/image_header.h"
#include "codec/jpeg/libjpeg.h"
#include "codec/jpeg/segment_index.h"
#include "codec/raw.h"
#include "imgpack/error.h"
#include "tests/support/damage.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"

namespace imgpack {
namespace {

using namespace imgpack::testing;

/// The pixels, by the decoders that ImageDecoder chooses from.
RgbImage expected_pixels(const RecordSample& sample) {
  RgbImage image;
  const RgbView view = image.resize({sample.meta.width, sample.meta.height});
  CopyRows rows(view);
  switch (sample.meta.codec) {
    case Codec::jpeg:
      REQUIRE(decode_jpeg_rows(sample.payload, kDefaultMaxPixels, rows).ok());
      break;
    case Codec::raw_rgb8:
      REQUIRE(sample.payload.size() == image.bytes().size());
      std::ranges::copy(sample.payload, reinterpret_cast<std::byte*>(view.pixels));
      break;
    case Codec::raw_rgb8_zstd: {
      ByteBuffer pixels;
      REQUIRE(decompress_zstd(sample.payload, image.bytes().size(), pixels) == "");
      std::ranges::copy(pixels.bytes(), reinterpret_cast<std::byte*>(view.pixels));
      break;
    }
    default:
      REQUIRE(decode_other_image(sample.payload, sample.meta.codec, kDefaultMaxPixels, image).ok());
  }
  return image;
}

std::vector<std::byte> part_of(const RgbImage& image, const Rect& crop) {
  std::vector<std::byte> bytes;
  for (std::uint32_t y = crop.y; y < crop.y + crop.height; ++y) {
    const auto* row = reinterpret_cast<const std::byte*>(image.view().row(y)) + crop.x * RgbImage::kChannels;
    bytes.insert(bytes.end(), row, row + crop.width * RgbImage::kChannels);
  }
  return bytes;
}

std::vector<std::byte> bytes_of(const RgbImage& image) {
  return {image.bytes().begin(), image.bytes().end()};
}

/// Keeps what it is given, and that it comes in order.
class KeepRows final : public RowSink {
 public:
  void take(std::uint32_t y, ConstRgbView rows) override {
    CHECK(y == next_);
    next_ += rows.height;
    for (std::uint32_t i = 0; i < rows.height; ++i) {
      const auto* row = reinterpret_cast<const std::byte*>(rows.row(i));
      bytes_.insert(bytes_.end(), row, row + rows.width * RgbImage::kChannels);
    }
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::uint32_t next_ = 0;
  std::vector<std::byte> bytes_;
};

std::vector<Rect> crops_in(Size size) {
  std::vector<Rect> crops = {{0, 0, size.width, size.height},
                             {0, 0, 1, 1},
                             {size.width - 1, size.height - 1, 1, 1},
                             {0, size.height - 1, size.width, 1},
                             {size.width - 1, 0, 1, size.height}};
  for (std::uint32_t i = 1; i < 40; ++i) {
    const std::uint32_t x = i * 7 % size.width;
    const std::uint32_t y = i * 5 % size.height;
    crops.push_back({x, y, 1 + i * 11 % (size.width - x), 1 + i * 13 % (size.height - y)});
  }
  return crops;
}

/// One decoder for a whole test: what one record leaves behind must not show in the next.
ImageResult decode(ImageDecoder& decoder, const RecordMeta& meta, const RecordBytes& bytes, RgbImage& out) {
  const ImageResult result = decoder.decode(meta, bytes, out);
  CHECK(result.ok() == result.reason.empty());
  return result;
}

RecordSample sample_named(std::string_view name) {
  for (RecordSample& sample : record_samples()) {
    if (sample.name == name) return std::move(sample);
  }
  FAIL("no sample " << name);
  return {};
}

}  // namespace

TEST_CASE("the samples take every way of decoding") {
  std::map<DecodePath, int> seen;
  for (const RecordSample& sample : record_samples()) ++seen[decode_path(sample.meta)];
  for (const DecodePath path :
       {DecodePath::indexed_jpeg, DecodePath::raw, DecodePath::raw_zstd, DecodePath::whole_jpeg, DecodePath::other}) {
    CHECK(seen[path] != 0);
  }
}

TEST_CASE("whole images and crops have the pixels of the decoder that is right for them") {
  ImageDecoder decoder(&decode_other_image);
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    const RgbImage expected = expected_pixels(sample);
    RgbImage image;
    CHECK(decode(decoder, sample.meta, sample.bytes(), image).reason == "");
    REQUIRE(image.size() == expected.size());
    CHECK(bytes_of(image) == bytes_of(expected));
    for (const Rect& crop : crops_in(expected.size())) {
      const std::vector<std::byte> part = part_of(expected, crop);
      RgbImage out;
      REQUIRE(decoder.decode(sample.meta, sample.bytes(), crop, out.resize({crop.width, crop.height})).ok());
      CHECK(bytes_of(out) == part);
      KeepRows rows;
      REQUIRE(decoder.decode(sample.meta, sample.bytes(), crop, rows).ok());
      CHECK(rows.bytes() == part);
    }
  }
}

TEST_CASE("a crop outside the image is the caller's mistake") {
  ImageDecoder decoder(&decode_other_image);
  RgbImage out;
  const RgbView view = out.resize({1, 1});
  KeepRows rows;
  for (const RecordSample& sample : record_samples()) {
    const std::uint32_t width = sample.meta.width;
    const std::uint32_t height = sample.meta.height;
    for (const Rect& crop : {Rect{0, 0, 0, 1},
                             {0, 0, 1, 0},
                             {width, 0, 1, 1},
                             {0, height, 1, 1},
                             {0, 0, width + 1, 1},
                             {1, 0, width, 1},
                             {0, 1, 1, height},
                             {0xffffffff, 0, 2, 1},
                             {1, 1, 0xffffffff, 1}}) {
      CHECK(code_of([&] { decoder.decode(sample.meta, sample.bytes(), crop, view); }) == ErrorCode::invalid_argument);
      CHECK(code_of([&] { decoder.decode(sample.meta, sample.bytes(), crop, rows); }) == ErrorCode::invalid_argument);
    }
  }
}

TEST_CASE("a size that is not the payload's is damage, whichever way it is wrong") {
  ImageDecoder decoder(&decode_other_image);
  RgbImage image;
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    for (const auto& [dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, -1}, {1000, 1000}}) {
      RecordMeta meta = sample.meta;
      meta.width += static_cast<std::uint32_t>(dx);
      meta.height += static_cast<std::uint32_t>(dy);
      if (meta.width == 0 || meta.height == 0) continue;
      CHECK(decode(decoder, meta, sample.bytes(), image).status == ImageStatus::damaged);
      const Rect corner{meta.width - 1, meta.height - 1, 1, 1};
      CHECK(decoder.decode(meta, sample.bytes(), corner, image.resize({1, 1})).status == ImageStatus::damaged);
    }
    for (const Size empty : {Size{0, 5}, {5, 0}, {0, 0}}) {
      RecordMeta meta = sample.meta;
      meta.width = empty.width;
      meta.height = empty.height;
      CHECK(decode(decoder, meta, sample.bytes(), image).status == ImageStatus::damaged);
    }
  }
}

TEST_CASE("more pixels than allowed are refused before anything is allocated") {
  RgbImage image;
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    const std::uint64_t pixels = std::uint64_t{sample.meta.width} * sample.meta.height;
    ImageDecoder exact(&decode_other_image, pixels);
    CHECK(decode(exact, sample.meta, sample.bytes(), image).ok());
    ImageDecoder less(&decode_other_image, pixels - 1);
    CHECK(decode(less, sample.meta, sample.bytes(), image).status == ImageStatus::too_large);
    RecordMeta meta = sample.meta;
    meta.width = meta.height = 0xffffffff;
    CHECK(decode(exact, meta, sample.bytes(), image).status == ImageStatus::too_large);
  }
}

TEST_CASE("sizes whose bytes can't be counted are refused, whatever is allowed") {
  const std::vector<std::byte> payload(770);
  RecordMeta meta;
  meta.codec = Codec::raw_rgb8;
  meta.width = 4278189826;  // 3 x width x height = 2^64 + 770
  meta.height = 1437270187;
  ImageDecoder decoder(&decode_other_image, UINT64_MAX);
  std::vector<std::uint8_t> pixels(3);
  const RgbView out{pixels.data(), 1, 1, 3};
  const ImageResult result =
      decoder.decode(meta, {.payload = payload, .segments = {}}, {0, meta.height - 1, 1, 1}, out);
  CHECK(result.status == ImageStatus::too_large);
}

TEST_CASE("without a decoder for other images those are unsupported, and all else decodes") {
  ImageDecoder decoder(nullptr);
  RgbImage image;
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    const ImageResult result = decode(decoder, sample.meta, sample.bytes(), image);
    if (decode_path(sample.meta) == DecodePath::other) {
      CHECK(result.status == ImageStatus::unsupported);
      CHECK(result.reason.find("--normalize") != std::string::npos);
    } else {
      CHECK(result.ok());
    }
  }
}

TEST_CASE("a record of unknown codec is no image") {
  ImageDecoder decoder(&decode_other_image);
  RecordSample sample = sample_named("jpeg");
  sample.meta.codec = Codec::unknown;
  RgbImage image;
  CHECK_FALSE(decode(decoder, sample.meta, sample.bytes(), image).ok());
}

TEST_CASE("payloads that are cut are damaged, unless nothing is missing that Pillow would miss") {
  ImageDecoder decoder(&decode_other_image);
  RgbImage image;
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    const bool every_byte_counts =
        decode_path(sample.meta) == DecodePath::raw || decode_path(sample.meta) == DecodePath::raw_zstd;
    const std::vector<std::byte> expected = bytes_of(expected_pixels(sample));
    for_each_cut(sample.payload, 1, [&](std::span<const std::byte> prefix) {
      const ImageResult result = decode(decoder, sample.meta, {prefix, sample.segments}, image);
      if (every_byte_counts) CHECK(result.status == ImageStatus::damaged);
      if (result.ok() && decode_path(sample.meta) == DecodePath::indexed_jpeg) CHECK(bytes_of(image) == expected);
    });
    CHECK_FALSE(decode(decoder, sample.meta, {{}, sample.segments}, image).ok());
  }
}

TEST_CASE("flipped bits in payloads and indexes do no harm, and the decoder goes on") {
  ImageDecoder decoder(&decode_other_image, 1 << 16);
  RgbImage image;
  for (const RecordSample& sample : record_samples()) {
    CAPTURE(sample.name);
    const std::vector<std::byte> expected = bytes_of(expected_pixels(sample));
    for_each_flip(sample.payload, 3, [&](std::span<const std::byte> payload, std::size_t) {
      decode(decoder, sample.meta, {payload, sample.segments}, image);
    });
    std::size_t found = 0;
    for_each_flip(sample.segments, 1, [&](std::span<const std::byte> segments, std::size_t) {
      found += decode(decoder, sample.meta, {sample.payload, segments}, image).ok() ? 0 : 1;
    });
    // Of an index, only what stands for the DC predictors can be wrong without notice.
    CHECK(found * 4 >= sample.segments.size());
    REQUIRE(decode(decoder, sample.meta, sample.bytes(), image).ok());
    CHECK(bytes_of(image) == expected);
  }
}

TEST_CASE("files whose last byte is one of ones, with a zero stuffed behind it, decode by their index") {
  ImageDecoder decoder(nullptr);
  int seen = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    // So much noise that the last block has its last coefficient, whose bits may all be ones.
    RgbImage noise;
    const RgbView view = noise.resize({8, 8});
    for (std::uint32_t i = 0; i < noise.bytes().size(); ++i) {
      view.pixels[i] = static_cast<std::uint8_t>((i + seed) * (i + 77) * 2654435761u >> 24);
    }
    ByteBuffer encoded;
    encode_jpeg(std::as_const(noise).view(), 100, Subsampling::s444, 0, encoded);
    const std::span<const std::byte> file = encoded.bytes();
    // ff 00, then the end of the image.
    if (file[file.size() - 4] != std::byte{0xff} || file[file.size() - 3] != std::byte{0}) continue;
    ++seen;
    ByteBuffer index;
    REQUIRE(jpeg::IndexBuilder().build(file, {}, index) == jpeg::Indexability::indexable);
    RecordSample sample = sample_named("jpeg");
    sample.meta.width = sample.meta.height = 8;
    sample.payload.assign(file.begin(), file.end());
    RgbImage image;
    CHECK(decode(decoder, sample.meta, {file, index.bytes()}, image).reason == "");
    CHECK(bytes_of(image) == bytes_of(expected_pixels(sample)));
  }
  CHECK(seen > 0);
}

TEST_CASE("an index that is cut, or another file's, is damage") {
  ImageDecoder decoder(&decode_other_image);
  RgbImage image;
  const RecordSample sample = sample_named("jpeg with index");
  for_each_cut(sample.segments, 1, [&](std::span<const std::byte> prefix) {
    if (prefix.empty()) return;  // no index
    CHECK(decode(decoder, sample.meta, {sample.payload, prefix}, image).status == ImageStatus::damaged);
  });
  const RecordSample other = sample_named("another jpeg with index");
  REQUIRE(other.meta.width == sample.meta.width);
  REQUIRE(other.meta.height == sample.meta.height);
  CHECK(decode(decoder, sample.meta, {sample.payload, other.segments}, image).status == ImageStatus::damaged);
}

TEST_CASE("a zstd frame has to hold exactly the pixels, and nothing may follow it") {
  ImageDecoder decoder(nullptr);
  RgbImage image;
  const RecordSample sample = sample_named("raw zstd");
  const std::vector<std::byte> pixels = bytes_of(expected_pixels(sample));
  const auto status = [&](std::span<const std::byte> payload) {
    return decode(decoder, sample.meta, {payload, {}}, image).status;
  };
  ByteBuffer frame;
  compress_zstd(std::span(pixels).first(pixels.size() - 1), 3, frame);
  CHECK(status(frame.bytes()) == ImageStatus::damaged);
  std::vector<std::byte> longer = pixels;
  longer.push_back(std::byte{0});
  compress_zstd(longer, 3, frame);
  CHECK(status(frame.bytes()) == ImageStatus::damaged);
  CHECK(status(pixels) == ImageStatus::damaged);  // not compressed
  for (const std::size_t extra : {1, 4, 100}) {
    std::vector<std::byte> trailed = sample.payload;
    trailed.resize(trailed.size() + extra, std::byte{0});
    CHECK(status(trailed) == ImageStatus::damaged);
  }
  std::vector<std::byte> two = sample.payload;
  two.insert(two.end(), sample.payload.begin(), sample.payload.end());
  CHECK(status(two) == ImageStatus::damaged);
  CHECK(status(sample.payload) == ImageStatus::ok);
}

TEST_CASE("zstd frames are the same each time, at every level") {
  const RecordSample sample = sample_named("raw");
  for (const int level : {1, 3, 19, 22}) {
    ByteBuffer a;
    ByteBuffer b;
    compress_zstd(sample.payload, level, a);
    compress_zstd(sample.payload, level, b);
    CHECK(std::ranges::equal(a.bytes(), b.bytes()));
    ByteBuffer back;
    CHECK(decompress_zstd(a.bytes(), sample.payload.size(), back) == "");
    CHECK(std::ranges::equal(back.bytes(), sample.payload));
  }
}

}  // namespace imgpack
