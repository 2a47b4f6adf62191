#include "imgpack/transform.h"

#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/enum_names.h"

namespace imgpack {

namespace {

constexpr EnumNames<Interpolation, 6> kInterpolations = {{
    {Interpolation::nearest, "nearest"},
    {Interpolation::box, "box"},
    {Interpolation::bilinear, "bilinear"},
    {Interpolation::hamming, "hamming"},
    {Interpolation::bicubic, "bicubic"},
    {Interpolation::lanczos, "lanczos"},
}};

constexpr EnumNames<Encode, 3> kEncodes = {{
    {Encode::keep, "keep"},
    {Encode::jpeg, "jpeg"},
    {Encode::raw, "raw"},
}};

constexpr EnumNames<ResizeMode, 4> kResizeModes = {{
    {ResizeMode::shorter, "shorter"},
    {ResizeMode::longer, "longer"},
    {ResizeMode::exact, "exact"},
    {ResizeMode::center_crop, "center-crop"},
}};

constexpr EnumNames<JpegHandling, 3> kJpegHandlings = {{
    {JpegHandling::keep, "keep"},
    {JpegHandling::baseline, "baseline"},
    {JpegHandling::restart, "restart"},
}};

constexpr EnumNames<Subsampling, 3> kSubsamplings = {{
    {Subsampling::s444, "444"},
    {Subsampling::s422, "422"},
    {Subsampling::s420, "420"},
}};

[[noreturn]] void contradiction(std::string what) {
  throw Error(ErrorCode::invalid_argument, std::move(what));
}

void check_range(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most) {
    contradiction(fmt::format("{} is {}, but has to be from {} to {}", what, value, least, most));
  }
}

}  // namespace

std::string_view to_string(Interpolation interpolation) noexcept {
  return name_of(kInterpolations, interpolation);
}
std::optional<Interpolation> interpolation_from_name(std::string_view name) noexcept {
  return value_of(kInterpolations, name);
}
std::string_view to_string(Encode encode) noexcept {
  return name_of(kEncodes, encode);
}
std::optional<Encode> encode_from_name(std::string_view name) noexcept {
  return value_of(kEncodes, name);
}
std::string_view to_string(ResizeMode mode) noexcept {
  return name_of(kResizeModes, mode);
}
std::optional<ResizeMode> resize_mode_from_name(std::string_view name) noexcept {
  return value_of(kResizeModes, name);
}
std::string_view to_string(JpegHandling handling) noexcept {
  return name_of(kJpegHandlings, handling);
}
std::optional<JpegHandling> jpeg_handling_from_name(std::string_view name) noexcept {
  return value_of(kJpegHandlings, name);
}
std::string_view to_string(Subsampling subsampling) noexcept {
  return name_of(kSubsamplings, subsampling);
}
std::optional<Subsampling> subsampling_from_name(std::string_view name) noexcept {
  return value_of(kSubsamplings, name);
}

void Transform::check() const {
  if (resize != 0) check_range("the size to resize to", resize, 1, kMaxResize);
  if (quality) check_range("the JPEG quality", *quality, 1, 100);
  if (zstd_level) check_range("the zstd level", *zstd_level, 1, 22);
  if (encode == Encode::keep && (resize != 0 || apply_exif_orientation)) {
    contradiction("kept bytes can't be resized or turned: encode them as jpeg or raw");
  }
  if (encode != Encode::jpeg && (quality || subsampling)) {
    contradiction("quality and subsampling are for images that are encoded as jpeg");
  }
  if (encode == Encode::raw && jpeg != JpegHandling::keep) {
    contradiction("how JPEG files are rewritten does not matter to images that are encoded as raw");
  }
  if (encode != Encode::keep && normalize) {
    contradiction("normalizing is for kept bytes: images encoded as jpeg or raw are alike already");
  }
  const bool makes_raw = encode == Encode::raw || normalize;
  if (zstd_level && !makes_raw) contradiction("zstd compresses raw images: encode as raw, or normalize");
  if (resize == 0 && upscale) contradiction("upscaling needs a size to resize to");
}

std::optional<std::uint32_t> Transform::fixed_side() const noexcept {
  const bool fixed = resize_mode == ResizeMode::exact || resize_mode == ResizeMode::center_crop;
  return resize != 0 && fixed ? std::optional(resize) : std::nullopt;
}

std::map<std::string, std::string> Transform::describe() const {
  std::map<std::string, std::string> entries = {{"encode", std::string(to_string(encode))}};
  if (resize != 0) {
    entries["resize"] = fmt::format("{}", resize);
    entries["resize_mode"] = to_string(resize_mode);
    entries["interpolation"] = to_string(interpolation);
    if (upscale) entries["upscale"] = "yes";
  }
  if (apply_exif_orientation) entries["exif_orientation"] = "applied";
  if (encode == Encode::jpeg) {
    entries["quality"] = quality ? fmt::format("{}", *quality) : fmt::format("{} where needed", kDefaultQuality);
    entries["subsampling"] = subsampling ? std::string(to_string(*subsampling))
                                         : fmt::format("{} where needed", to_string(kDefaultSubsampling));
  }
  if (encode != Encode::raw) {
    if (jpeg != JpegHandling::keep) entries["jpeg"] = to_string(jpeg);
    if (!index) entries["index"] = "no";
  }
  if (normalize) entries["normalize"] = "yes";
  if (zstd_level) entries["zstd"] = fmt::format("{}", *zstd_level);
  if (encode == Encode::raw && !zstd_level && fixed_side()) {
    entries["raw_shape"] = fmt::format("{}x{}", *fixed_side(), *fixed_side());
  }
  return entries;
}

}  // namespace imgpack
