// The options that say what becomes of images in batches that are measured.
#pragma once

#include <cstdint>
#include <string>

#include "measure/measurement.h"

namespace CLI {
class App;
}

namespace imgpack::tools {

struct BatchTransformOptions {
  std::string transform = "random";
  std::uint32_t crop = 224;
  std::uint32_t resize = 256;
  std::string interpolation = "bilinear";
  std::string dtype = "float32";
  std::string layout = "nchw";
};

/// --transform --crop --resize --interpolation --dtype --layout.
void add_batch_transform_options(CLI::App& command, BatchTransformOptions& options);

/// Sets transform, dtype and layout.
void apply(const BatchTransformOptions& options, measure::MeasureOptions& run);

}  // namespace imgpack::tools
