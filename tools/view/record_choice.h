// Which records are shown as pictures, and under which headings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/view/collection.h"
#include "tools/view/dataset_facts.h"

namespace imgpack::tools {

enum class ShowBy : std::uint8_t { order, name_of_class, split, damage };
/// "order", "class", "split", "damage".
std::optional<ShowBy> show_by_from_name(std::string_view name) noexcept;

struct ChoiceOptions {
  ShowBy by = ShowBy::order;
  std::uint64_t limit = 200;    ///< pictures in all, 1 or more
  std::uint64_t per_class = 0;  ///< of one class; 0: as many as there are
};

struct ShownGroup {
  std::string name;           ///< of the class or split; empty for the only group of ShowBy::order
  std::uint64_t records = 0;  ///< that there are
  std::vector<std::uint64_t> shown;
};

/// By order: the first records. By class and split: groups in their order, as many of each as of the others while there
/// are, evenly spread over each group. Reads the index twice. Records whose index entry can't be read are left out.
/// REQUIRES: by != damage.
std::vector<ShownGroup> choose_records(const Collection& collection, const ChoiceOptions& options);

/// The damaged records first, then those that decode but not cleanly, then those that nobody decoded, then others in
/// their order.
std::vector<ShownGroup> choose_by_damage(const Collection& collection, const DatasetFacts& facts,
                                         const ChoiceOptions& options);

/// How many each of `sizes` gives to a sum of at most `limit`: equally many, as far as they go.
std::vector<std::uint64_t> fair_shares(const std::vector<std::uint64_t>& sizes, std::uint64_t limit);

}  // namespace imgpack::tools
