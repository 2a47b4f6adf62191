// What is in a dataset, found by one pass over its payloads: counts, histograms, duplicates, suspicious records.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/view/collection.h"
#include "tools/view/duplicates.h"
#include "tools/view/findings.h"
#include "tools/view/histogram.h"

namespace imgpack::tools {

struct FactsOptions {
  unsigned threads = 0;  ///< 0: as many as this process may use
  std::uint64_t max_pixels = kDefaultMaxPixels;
  std::size_t most_listed = 200;  ///< findings of each kind, and groups of duplicates, that are kept; all are counted
  /// Called now and then, from one thread at a time, with (records done, records in all). Returning false cancels:
  /// gather_facts() then throws Error(invalid_argument, "cancelled").
  std::function<bool(std::uint64_t, std::uint64_t)> progress;
};

/// A class of which there is next to nothing, beside the others.
struct SmallClass {
  std::size_t index = 0;  ///< into Collection::classes()
  std::uint64_t records = 0;
  std::string reason;
  std::optional<std::uint64_t> example;  ///< its first record
};

struct DatasetFacts {
  DatasetFacts(const Collection& collection, std::size_t most_listed);

  std::uint64_t records = 0;  ///< selected ones, unreadable ones included
  std::uint64_t payload_bytes = 0;
  std::uint64_t pixels = 0;
  std::vector<std::uint64_t> split_records;  ///< by split; the last: without one
  std::vector<std::uint64_t> class_records;  ///< by class * (splits + 1) + split, in the same way; the last class: none
  std::map<Codec, std::uint64_t> codecs;
  std::map<std::string, std::uint64_t> jpeg_kinds;  ///< jpeg_kind() of JPEG records with the right checksum
  std::array<std::uint64_t, 9>
      orientations{};         ///< by EXIF orientation, of records with the right checksum; [0] is unused
  std::uint64_t indexed = 0;  ///< with a segment index
  std::map<std::string, std::uint64_t> unindexed;  ///< why others have none
  std::uint64_t decoded = 0;
  std::uint64_t gray = 0;  ///< of the decoded ones, without colour
  Histogram width{side_limits()};
  Histogram height{side_limits()};
  Histogram aspect{aspect_limits()};
  Histogram bytes{byte_limits()};
  Findings findings;
  Duplicates duplicates;
  std::uint64_t small_class_count = 0;
  std::vector<SmallClass> small_classes;  ///< the first most_listed

  std::size_t split_columns() const noexcept { return split_records.size(); }
  /// `split` == split_columns() - 1: without a split. `index` == number of classes: without a class.
  std::uint64_t count(std::size_t index, std::size_t split) const noexcept {
    return class_records[index * split_columns() + split];
  }
  std::uint64_t class_count(std::size_t index) const noexcept;
};

/// Reads and decodes every selected record once. Damage becomes a finding. Memory: 16 bytes a record, a number a class
/// and split for each thread, and what decoding takes. The result does not depend on the threads. Throws io,
/// std::bad_alloc and what `progress` asks for.
DatasetFacts gather_facts(const Collection& collection, const FactsOptions& options);

}  // namespace imgpack::tools
