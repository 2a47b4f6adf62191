// Which records a command is about: --split, --class, --limit, --key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "imgpack/store.h"

namespace CLI {
class App;
}

namespace imgpack::tools {

struct Selection {
  std::vector<std::string> splits;   ///< empty: all
  std::vector<std::string> classes;  ///< empty: all
  std::vector<std::string> keys;     ///< not empty: these records alone, in this order
  std::uint64_t limit = 0;           ///< 0: all
};

/// --split and --class.
void add_split_and_class_options(CLI::App& command, Selection& selection);
/// The same and --limit.
void add_selection_options(CLI::App& command, Selection& selection);

/// Calls `visit` with the number of each record that is meant, in order, until it returns false. Needs no memory per
/// record. Throws not_found for a split, class or key that the dataset does not have, before the first call.
void for_each_selected(const StoreReader& store, const Selection& selection,
                       const std::function<bool(std::uint64_t)>& visit);

/// The split that a record lies in; asked with rising record numbers it takes no time to speak of. Borrows `splits`.
class SplitFinder {
 public:
  explicit SplitFinder(const std::vector<Split>& splits);
  /// Null if no split holds the record.
  const Split* find(std::uint64_t record);

 private:
  std::vector<const Split*> by_begin_;
  std::size_t last_ = 0;
};

}  // namespace imgpack::tools
