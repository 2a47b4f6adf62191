// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>

namespace imgpack {

/// Bytes that can be taken without swapping or running into a control group's limit: MemAvailable of /proc/meminfo, or
/// less where a control group (version 1 or 2, this process's or one around it) leaves less. The page cache counts as
/// free, as it gives way. `root` has the files of /proc and /sys/fs/cgroup, as "proc/meminfo" and so on. Files that are
/// not there or not understood say nothing; if none says anything, the largest number.
std::uint64_t memory_available(const std::filesystem::path& root = "/");

}  // namespace imgpack
