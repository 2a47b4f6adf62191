// Whether a dataset says of itself that all its payloads are pixels of one size.
#pragma once

#include <optional>

#include "imgpack/dataset_info.h"
#include "imgpack/store.h"

namespace imgpack {

/// From the entry `raw_shape` of info.transform, "HEIGHTxWIDTH" in decimal digits without leading zeros, both from 1 to
/// RawShape::kMaxSide. Nothing if there is no such entry, or one that says something else.
std::optional<RawShape> raw_shape_of(const DatasetInfo& info);

}  // namespace imgpack
