// The report as one JSON document: what --json prints, and what the HTML page shows and carries.
#pragma once

#include <vector>

#include "tools/console.h"
#include "tools/view/collection.h"
#include "tools/view/dataset_facts.h"
#include "tools/view/record_choice.h"

namespace imgpack::tools {

/// docs/cli.md has the schema. `samples` are records to show, by class. At most kMostListedClasses classes are listed,
/// and keys are cut to kMostKeyBytesShown, so that it stays small. Throws what Collection throws about io; what can't
/// be read because of damage is null.
Json report_document(const Collection& collection, const DatasetFacts& facts, const std::vector<ShownGroup>& samples);

inline constexpr std::size_t kMostListedClasses = 25'000;
inline constexpr std::size_t kMostKeyBytesShown = 500;

/// A record as documents name it: number, file, key, split, class, sizes.
Json shown_record_json(const Collection& collection, std::uint64_t record);

}  // namespace imgpack::tools
