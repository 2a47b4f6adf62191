#include "tools/batch_transform_options.h"

#include <CLI/CLI.hpp>

#include "tools/numbers.h"

namespace imgpack::tools {

namespace {

void add_side_option(CLI::App& command, const std::string& name, std::uint32_t& value, const std::string& description) {
  add_number_option(
      command, name, {.least = 1, .most = ImageSize::kMaxSide},
      [&value](std::uint64_t number) { value = static_cast<std::uint32_t>(number); }, description);
}

Interpolation interpolation_of(const std::string& name) {
  return interpolation_from_name(name).value();
}

}  // namespace

void add_batch_transform_options(CLI::App& command, BatchTransformOptions& options) {
  command
      .add_option("--transform", options.transform,
                  "What becomes of images in batches: RandomResizedCrop and flip (default), Resize and CenterCrop, or "
                  "nothing; floating-point types are normalised besides")
      ->check(CLI::IsMember({"random", "center", "none"}));
  add_side_option(command, "--crop", options.crop, "Side of the crop in pixels (default 224)");
  add_side_option(command, "--resize", options.resize,
                  "With --transform center: what the shorter side becomes (default 256)");
  command.add_option("--interpolation", options.interpolation, "Pillow's filter of that name (default bilinear)")
      ->check(CLI::IsMember({"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"}));
  command.add_option("--dtype", options.dtype, "Of batches (default float32)")
      ->check(CLI::IsMember({"uint8", "float32", "float16", "bfloat16"}));
  command.add_option("--layout", options.layout, "Of batches (default nchw)")->check(CLI::IsMember({"nchw", "nhwc"}));
}

void apply(const BatchTransformOptions& options, measure::MeasureOptions& run) {
  run.dtype = dtype_from_name(options.dtype).value();
  run.layout = layout_from_name(options.layout).value();
  run.transform.clear();
  const Interpolation interpolation = interpolation_of(options.interpolation);
  if (options.transform == "random") {
    run.transform.emplace_back(RandomResizedCrop{.size = options.crop, .interpolation = interpolation});
    run.transform.emplace_back(HorizontalFlip{});
  } else if (options.transform == "center") {
    run.transform.emplace_back(Resize{.shorter = options.resize, .interpolation = interpolation});
    run.transform.emplace_back(CenterCrop{options.crop});
  }
  if (run.dtype != DType::u8) run.transform.emplace_back(Normalize::imagenet());
}

}  // namespace imgpack::tools
