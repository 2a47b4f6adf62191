#include "mmap/control_groups.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace imgpack {

namespace fs = std::filesystem;

namespace {

/// In a list with commas.
bool names(std::string_view list, std::string_view name) {
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

void append_path(ControlGroup::Version version, fs::path folder, std::string_view group,
                 std::vector<ControlGroup>& groups) {
  groups.push_back({version, folder});
  for (const fs::path& part : fs::path(group).relative_path()) groups.push_back({version, folder /= part});
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  std::vector<ControlGroup> groups;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "number:controllers:group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers.empty()) {
      append_path(ControlGroup::Version::v2, mounts, group, groups);
    } else if (names(controllers, controller)) {  // mounted by its own name, by those of all that share it, or both
      append_path(ControlGroup::Version::v1, mounts / controller, group, groups);
      if (controllers != controller) append_path(ControlGroup::Version::v1, mounts / controllers, group, groups);
    }
  }
  return groups;
}

}  // namespace imgpack
