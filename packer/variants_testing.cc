#include "packer/variants_testing.h"

#include <algorithm>
#include <array>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codec/image_header.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/libjpeg.h"
#include "codec/jpeg/parser.h"
#include "codec/jpeg/segment_index.h"
#include "codec/orientation.h"
#include "codec/other/image_samples.h"
#include "codec/other/other_image.h"
#include "codec/resize/resizer.h"
#include "packer/resize_plan.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

constexpr std::array kModes = {ResizeMode::shorter, ResizeMode::longer, ResizeMode::exact, ResizeMode::center_crop};

RgbImage decode_jpeg(std::span<const std::byte> file) {
  const ImageHeader header = read_image_header(file).header;
  RgbImage image;
  CopyRows rows(image.resize({header.width, header.height}));
  REQUIRE(decode_jpeg_rows(file, kDefaultMaxPixels, rows).ok());
  return image;
}

RgbImage decode_file(std::span<const std::byte> file, Codec codec) {
  if (codec == Codec::jpeg) return decode_jpeg(file);
  RgbImage image;
  REQUIRE(decode_other_image(file, codec, kDefaultMaxPixels, image).ok());
  return image;
}

/// All of the image resized, then cut.
RgbImage resized(const RgbImage& image, const ResizePlan& plan, Interpolation interpolation) {
  RgbImage scaled;
  Resizer resizer;
  resize(image.view(), whole(image.size()), interpolation, scaled.resize(plan.scaled), resizer);
  RgbImage out;
  const RgbView view = out.resize({plan.kept.width, plan.kept.height});
  for (std::uint32_t y = 0; y < view.height; ++y) {
    const std::uint8_t* row = std::as_const(scaled).view().row(plan.kept.y + y) + plan.kept.x * RgbImage::kChannels;
    std::copy_n(row, view.width * RgbImage::kChannels, view.row(y));
  }
  return out;
}

bool is_indexable(std::span<const std::byte> file) {
  ByteBuffer index;
  return jpeg::IndexBuilder().build(file, {}, index) == jpeg::Indexability::indexable;
}

VariantRecord pixels_record(RgbImage pixels, const Transform& transform) {
  return {.codec = transform.zstd_level ? Codec::raw_rgb8_zstd : Codec::raw_rgb8,
          .channels = 3,
          .indexed = false,
          .same_bytes = false,
          .pixels = std::move(pixels)};
}

VariantRecord keep_by_hand(std::span<const std::byte> file, const ImageHeader& header, RgbImage pixels,
                           const Transform& transform) {
  VariantRecord record{.codec = header.codec,
                       .channels = header.channels,
                       .indexed = false,
                       .same_bytes = true,
                       .pixels = std::move(pixels)};
  bool indexable = false;
  if (header.codec == Codec::jpeg) {
    const bool plain = jpeg::parse(file).indexability == jpeg::Indexability::indexable;
    const bool rewrites =
        transform.jpeg == JpegHandling::restart || (transform.jpeg == JpegHandling::baseline && !plain);
    ByteBuffer rewritten;
    // CMYK is left alone: no rewriting makes it indexable.
    if (rewrites && header.channels != 4) {
      REQUIRE(transcode_jpeg(file, kDefaultMaxPixels, {.restart_markers = transform.jpeg == JpegHandling::restart},
                             rewritten)
                  .ok());
      record.same_bytes = false;
      file = rewritten.bytes();
    }
    indexable = is_indexable(file);
    record.indexed = indexable && transform.index;
  }
  if (transform.normalize && !indexable) return pixels_record(std::move(record.pixels), transform);
  return record;
}

VariantRecord encode_by_hand(const RgbImage& pixels, const Transform& transform) {
  ByteBuffer file;
  encode_jpeg(pixels.view(), transform.quality.value_or(90), transform.subsampling.value_or(Subsampling::s420), 0,
              file);
  return {.codec = Codec::jpeg,
          .channels = 3,
          .indexed = transform.index,
          .same_bytes = false,
          .pixels = decode_jpeg(file.bytes())};
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> all = {
      {"keep", {}},
      {"keep, no index", {.index = false}},
      {"baseline", {.jpeg = JpegHandling::baseline}},
      {"restart", {.jpeg = JpegHandling::restart}},
      {"restart, no index", {.jpeg = JpegHandling::restart, .index = false}},
      {"normalize", {.normalize = true}},
      {"normalize, no index", {.normalize = true, .index = false}},
      {"normalize, baseline, zstd", {.jpeg = JpegHandling::baseline, .zstd_level = 3, .normalize = true}},
      {"jpeg", {.encode = Encode::jpeg}},
      {"jpeg, restart, no index", {.encode = Encode::jpeg, .jpeg = JpegHandling::restart, .index = false}},
      {"jpeg, quality", {.encode = Encode::jpeg, .quality = 60}},
      {"jpeg, 444", {.encode = Encode::jpeg, .subsampling = Subsampling::s444}},
      {"jpeg, 422, restart", {.encode = Encode::jpeg, .jpeg = JpegHandling::restart, .subsampling = Subsampling::s422}},
      {"jpeg, upright", {.encode = Encode::jpeg, .apply_exif_orientation = true}},
      {"raw", {.encode = Encode::raw}},
      {"raw, zstd", {.encode = Encode::raw, .zstd_level = 19}},
      {"raw, upright", {.encode = Encode::raw, .apply_exif_orientation = true}},
      {"raw, upright, resized, zstd",
       {.encode = Encode::raw,
        .resize = 20,
        .resize_mode = ResizeMode::center_crop,
        .upscale = true,
        .zstd_level = 1,
        .apply_exif_orientation = true}},
  };
  for (const ResizeMode mode : kModes) {
    for (const bool upscale : {false, true}) {
      for (const Encode encode : {Encode::jpeg, Encode::raw}) {
        all.push_back({fmt::format("{}, {}{}", to_string(encode), to_string(mode), upscale ? ", upscale" : ""),
                       {.encode = encode, .resize = 24, .resize_mode = mode, .upscale = upscale}});
      }
    }
  }
  for (const Interpolation filter : {Interpolation::nearest, Interpolation::box, Interpolation::hamming,
                                     Interpolation::bicubic, Interpolation::lanczos}) {
    all.push_back({fmt::format("raw, {}", to_string(filter)),
                   {.encode = Encode::raw, .resize = 17, .interpolation = filter, .upscale = true}});
  }
  return all;
}

void make_mixed_folder(const std::filesystem::path& folder) {
  const auto write = [&](const std::string& name, const std::vector<std::byte>& file) {
    write_file(folder / name, file);
  };
  write("train/a/color.JPEG", make_jpeg(70, 45, 1));
  write("train/a/tall.JPEG", make_jpeg(33, 81, 2, {.quality = 60}));
  write("train/a/gray.JPEG", make_jpeg(40, 40, 3, {.gray = true}));
  write("train/a/progressive.JPEG", make_jpeg(51, 37, 4, {.progressive = true}));
  write("train/a/cmyk.JPEG", make_jpeg(29, 30, 5, {.color = JpegColor::cmyk}));
  write("train/b/tiny.JPEG", make_jpeg(1, 1, 6));
  write("train/b/small.JPEG", make_jpeg(24, 25, 7));
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto seed = static_cast<std::uint32_t>(10 + orientation);
    write(fmt::format("train/b/turned{}.JPEG", orientation), make_jpeg(47, 26, seed, {.orientation = orientation}));
  }
  write("val/a/progressive.JPEG", make_jpeg(30, 28, 8, {.gray = true, .progressive = true}));
  for (const ImageSample& sample : image_samples()) {
    write(fmt::format("val/b/{}.{}", sample.name, to_string(sample.codec)), sample.bytes);
  }
  write("val/b/large.png", make_png(41, 60, 9));
}

std::optional<VariantRecord> make_by_hand(std::span<const std::byte> file, const Transform& transform) {
  const ImageHeader header = read_image_header(file).header;
  RgbImage pixels = decode_file(file, header.codec);
  if (transform.encode == Encode::keep) return keep_by_hand(file, header, std::move(pixels), transform);
  bool changed = false;
  if (transform.apply_exif_orientation) {
    const int orientation = exif_orientation(file, header.codec);
    RgbImage upright;
    apply_orientation(std::as_const(pixels).view(), orientation, upright);
    pixels = std::move(upright);
    changed = orientation != 1;
  }
  const auto plan = plan_resize(pixels.size(), transform);
  if (!std::holds_alternative<ResizePlan>(plan)) return std::nullopt;
  if (std::get<ResizePlan>(plan).changes(pixels.size())) {
    pixels = resized(pixels, std::get<ResizePlan>(plan), transform.interpolation);
    changed = true;
  }
  if (transform.encode == Encode::raw) return pixels_record(std::move(pixels), transform);
  const bool keeps =
      header.codec == Codec::jpeg && header.channels != 4 && !changed && !transform.quality && !transform.subsampling;
  return keeps ? keep_by_hand(file, header, std::move(pixels), transform) : encode_by_hand(pixels, transform);
}

}  // namespace imgpack::testing
