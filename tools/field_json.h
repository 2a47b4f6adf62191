// Values of fields as JSON.
#pragma once

#include <cstddef>
#include <span>

#include "imgpack/record.h"
#include "tools/console.h"

namespace imgpack::tools {

/// A number, an array of numbers (row-major, not nested), or for bytes a string if they are UTF-8, else {"hex": "..."}.
/// Infinite and undefined floats become null. `value` must have the size that `spec` gives.
Json field_value_json(const FieldSpec& spec, std::span<const std::byte> value);

}  // namespace imgpack::tools
