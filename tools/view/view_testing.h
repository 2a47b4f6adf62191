// Small packed datasets of real images, for tests of what is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "imgpack/store.h"

namespace imgpack::testing {

struct ViewRecord {
  std::string key;
  std::vector<std::byte> payload;
  std::int64_t label = 0;
  std::uint32_t split = 0;
  bool index = true;  ///< JPEG only: with a segment index, where there can be one
};

/// A rec file of the classes "cat", "dog" and "ant", with `splits`. Records are in the order of their splits.
void write_view_records(const std::filesystem::path& path, const std::vector<ViewRecord>& records,
                        const std::vector<std::string>& splits = {"train", "val"});

/// Changes a byte in the middle of a record's payload, on disk.
void damage_record(const std::filesystem::path& path, std::uint64_t record);

}  // namespace imgpack::testing
