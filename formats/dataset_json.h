// DatasetInfo as JSON text: the metadata block of every format (schema: formats/FORMAT.md, "Dataset metadata").
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "imgpack/dataset_info.h"

namespace imgpack {

/// Compact JSON with keys in a fixed order: equal infos give equal text. Text that is not UTF-8 throws
/// invalid_argument.
std::string dataset_info_to_json(const DatasetInfo& info);

/// Throws damaged, naming `file`, if `json` is not valid or breaks a rule: a split range outside the records, a field
/// without a name, ...
DatasetInfo dataset_info_from_json(std::string_view json, const std::filesystem::path& file);

}  // namespace imgpack
