// Small whole images of every type but JPEG, for tests and fuzzers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codec/image.h"
#include "imgpack/record.h"

namespace imgpack::testing {

struct ImageSample {
  std::string name;
  Codec codec = Codec::unknown;
  Size size;
  std::vector<std::byte> bytes;
};

std::vector<ImageSample> image_samples();

}  // namespace imgpack::testing
