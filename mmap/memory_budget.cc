#include "mmap/memory_budget.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "mmap/control_groups.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::uint64_t number = 0;
  if (!(std::ifstream(path) >> number)) return std::nullopt;  // "max" is none
  return number;
}

/// The number behind `name` in a file of lines "name number ...".
std::optional<std::uint64_t> number_behind(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == name) return file >> number ? std::optional(number) : std::nullopt;
    std::getline(file, word);
  }
  return std::nullopt;
}

/// What the files of one version of control groups are called.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* active_cache;  ///< in memory.stat
  const char* inactive_cache;
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
                                  "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "active_file", "inactive_file"};

std::uint64_t left_in(const fs::path& folder, const GroupFiles& files) {
  const std::optional<std::uint64_t> limit = number_in(folder / files.limit);
  const std::optional<std::uint64_t> usage = number_in(folder / files.usage);
  if (!limit || !usage) return kUnlimited;
  const std::uint64_t cache = number_behind(folder / "memory.stat", files.active_cache).value_or(0) +
                              number_behind(folder / "memory.stat", files.inactive_cache).value_or(0);
  const std::uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

}  // namespace

std::uint64_t memory_available(const fs::path& root) {
  std::uint64_t available = kUnlimited;
  if (const auto kilobytes = number_behind(root / "proc/meminfo", "MemAvailable:")) available = *kilobytes * 1024;
  for (const ControlGroup& group : control_groups("memory", root)) {  // each may have a limit
    const bool is_v2 = group.version == ControlGroup::Version::v2;
    available = std::min(available, left_in(group.folder, is_v2 ? kVersion2 : kVersion1));
  }
  return available;
}

}  // namespace imgpack
