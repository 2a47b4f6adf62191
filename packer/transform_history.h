// What a conversion's transform takes over from the dataset that is converted.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "imgpack/transform.h"

namespace imgpack {

/// "a=1, b=2"
std::string joined(const std::map<std::string, std::string>& entries);

/// The size of all records that a conversion takes over, if there is one: pixels that are kept, or decompressed. As
/// DatasetInfo::transform's raw_shape. `before`: DatasetInfo::transform of what is converted.
std::optional<std::string> inherited_shape(const std::map<std::string, std::string>& before, const Transform& now);

/// What had been done before to the records of a dataset that is converted, oldest first: "a=1, b=2; c=3". Empty if
/// they are the files' bytes.
std::string steps_so_far(std::map<std::string, std::string> before);

}  // namespace imgpack
