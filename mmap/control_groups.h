// The control groups of Linux that this process is in, and where their files are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace imgpack {

struct ControlGroup {
  enum class Version : std::uint8_t { v1, v2 };  ///< files have other names in each
  Version version;
  std::filesystem::path folder;  ///< with the group's files; need not be there
  bool operator==(const ControlGroup&) const = default;
};

/// The groups in which `controller` ("cpu", "memory") may limit this process: its own, and before each the ones around
/// it, from the mount point on. `root` has the files of /proc and /sys/fs/cgroup, as "proc/self/cgroup" and so on; a
/// file that is not there or not understood names no groups.
std::vector<ControlGroup> control_groups(std::string_view controller, const std::filesystem::path& root);

}  // namespace imgpack
