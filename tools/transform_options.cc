#include "tools/transform_options.h"

#include <CLI/CLI.hpp>

#include "tools/numbers.h"

namespace imgpack::tools {

namespace {

void add_resizing(CLI::App& command, TransformOptions& options) {
  CLI::Option* resize = add_number_option(
      command, "--resize", {.least = 1, .most = Transform::kMaxResize},
      [&options](std::uint64_t side) {
        options.values.resize = static_cast<std::uint32_t>(side);
        options.given = true;
      },
      "Resize images to N pixels, as --resize-mode says");
  command
      .add_option("--resize-mode", options.resize_mode,
                  "What becomes N: the shorter side (default), the longer one, both (exact), or the shorter one with "
                  "the N x N in the middle kept")
      ->check(CLI::IsMember({"shorter", "longer", "exact", "center-crop"}))
      ->needs(resize);
  command.add_option("--interpolation", options.interpolation, "Pillow's filter of that name (default bilinear)")
      ->check(CLI::IsMember({"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"}))
      ->needs(resize);
  command.add_flag("--upscale", options.values.upscale, "Enlarge smaller images, too")->needs(resize);
}

void add_jpeg_encoding(CLI::App& command, TransformOptions& options) {
  add_number_option(
      command, "--quality", {.least = 1, .most = 100},
      [&options](std::uint64_t quality) {
        options.values.quality = static_cast<int>(quality);
        options.given = true;
      },
      "Quality of encoded JPEGs (default 90). JPEG files that are not resized keep their bytes unless this or "
      "--subsampling is given");
  command.add_option("--subsampling", options.subsampling, "Chroma subsampling of encoded JPEGs (default 420)")
      ->check(CLI::IsMember({"444", "422", "420"}));
}

}  // namespace

void add_transform_options(CLI::App& command, TransformOptions& options) {
  command
      .add_option("--encode", options.encode,
                  "keep: the bytes of every file (default); jpeg: re-encode what has to be; raw: predecoded RGB pixels")
      ->check(CLI::IsMember({"keep", "jpeg", "raw"}));
  add_resizing(command, options);
  add_jpeg_encoding(command, options);
  add_number_option(
      command, "--zstd", {.least = 1, .most = 22},
      [&options](std::uint64_t level) {
        options.values.zstd_level = static_cast<int>(level);
        options.given = true;
      },
      "Compress raw pixels at this zstd level");
  command
      .add_option(
          "--jpeg", options.jpeg,
          "JPEG files whose pixels stay: keep them byte for byte (default); baseline: make progressive and "
          "arithmetic-coded ones baseline; restart: make all baseline with restart markers. The pixels stay the "
          "same")
      ->check(CLI::IsMember({"keep", "baseline", "restart"}));
  command.add_flag("--normalize", options.values.normalize,
                   "Store as raw pixels whatever a GPU could not decode: PNG, CMYK, ...");
  command.add_flag("--no-index", options.no_index, "Store no segment index with JPEGs");
  command.add_flag("--apply-exif-orientation", options.values.apply_exif_orientation,
                   "Turn images as their EXIF says, which training with torchvision's ImageFolder does not");
}

std::optional<Transform> to_transform(const TransformOptions& options) {
  Transform transform = options.values;
  transform.encode = encode_from_name(options.encode).value_or(Encode::keep);
  transform.resize_mode = resize_mode_from_name(options.resize_mode).value_or(ResizeMode::shorter);
  transform.interpolation = interpolation_from_name(options.interpolation).value_or(Interpolation::bilinear);
  transform.jpeg = jpeg_handling_from_name(options.jpeg).value_or(JpegHandling::keep);
  transform.subsampling = subsampling_from_name(options.subsampling);
  transform.index = !options.no_index;
  const bool given = options.given || !options.encode.empty() || !options.jpeg.empty() || transform != Transform{};
  if (!given) return std::nullopt;
  transform.check();
  return transform;
}

}  // namespace imgpack::tools
