// Which entries of a source a limited build takes: few of each class rather than the first class alone.
#pragma once

#include <cstdint>
#include <vector>

#include "packer/source.h"

namespace imgpack {

/// Consecutive entries of a source, up to the next run's position.
struct ChosenRun {
  std::uint64_t position;  ///< of the first of them among the chosen ones
  std::uint64_t entry;     ///< number of that entry
};

/// Chooses `limit` entries of `source`, in source order; all of them if it has no more.
///
/// Splits share `limit` in proportion to their sizes (largest remainder; of equal ones the earlier split), but each has
/// one at least if `limit` suffices for that. Within a split, classes take turns in the order of their labels, entries
/// without label being the first class, until its share is used up; each gives its first entries.
///
/// Reads the list twice. Memory: a few words a class and a run, where classes stand together one run each, in the worst
/// case 8 bytes an entry.
std::vector<ChosenRun> choose_balanced(const Source& source, std::uint64_t limit);

}  // namespace imgpack
