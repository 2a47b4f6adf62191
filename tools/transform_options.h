// The options that say what is made of each image.
#pragma once

#include <optional>
#include <string>

#include "imgpack/transform.h"

namespace CLI {
class App;
}

namespace imgpack::tools {

/// What was parsed; to_transform() makes the library's form of it.
struct TransformOptions {
  std::string encode;
  std::string resize_mode;
  std::string interpolation;
  std::string jpeg;
  std::string subsampling;
  bool no_index = false;
  Transform values;    ///< numbers and flags
  bool given = false;  ///< whether any of the options was
};

/// --encode --resize --resize-mode --interpolation --upscale --quality --subsampling --zstd --jpeg --normalize
/// --no-index --apply-exif-orientation.
void add_transform_options(CLI::App& command, TransformOptions& options);

/// Nothing if none of the options was given. Throws Error(invalid_argument) where they contradict each other.
std::optional<Transform> to_transform(const TransformOptions& options);

}  // namespace imgpack::tools
