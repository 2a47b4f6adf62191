// The inner loop of MixUp, for whatever vector instructions the processor has.
#pragma once

#include <cstddef>

#include "imgpack/batch.h"

namespace imgpack {

/// own = own * own_share + other * other_share for `count` values, each operation rounded to float32; then, for other
/// dtypes, to nearest, halves to even. REQUIRES: both aligned to the dtype; no overlap.
void blend_values(DType dtype, std::byte* own, const std::byte* other, std::size_t count, float own_share,
                  float other_share);

}  // namespace imgpack
