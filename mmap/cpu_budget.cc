#include "mmap/cpu_budget.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace imgpack {

namespace fs = std::filesystem;

namespace {

unsigned rounded_up(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<unsigned>(std::clamp((quota + period - 1) / period, 1.0, 65536.0));
}

unsigned tighter(unsigned a, unsigned b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

unsigned limit_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return 0;
  return rounded_up(std::strtod(quota.c_str(), nullptr), period);
}

unsigned limit_v1(const fs::path& folder) {
  double quota = 0;
  double period = 0;
  if (!(std::ifstream(folder / "cpu.cfs_quota_us") >> quota)) return 0;
  if (!(std::ifstream(folder / "cpu.cfs_period_us") >> period)) return 0;
  return rounded_up(quota, period);
}

/// Of a group and all it lies in: each may have a limit.
template <class Limit>
unsigned tightest(const fs::path& mount, std::string_view group, Limit&& limit) {
  unsigned found = limit(mount);
  fs::path folder = mount;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    found = tighter(found, limit(folder));
  }
  return found;
}

unsigned affinity_count() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();  // more CPUs than the set has room for
}

}  // namespace

unsigned cgroup_cpu_limit(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream file(root / "proc/self/cgroup");
  unsigned found = 0;
  for (std::string line; std::getline(file, line);) {  // "number:controllers:group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers(",");
    controllers.append(line, first + 1, second - first - 1).append(",");
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers == ",,") {
      found = tighter(found, tightest(mounts, group, limit_v2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      found = tighter(found, tightest(mounts / "cpu", group, limit_v1));
      found = tighter(found, tightest(mounts / "cpu,cpuacct", group, limit_v1));
    }
  }
  return found;
}

unsigned cpu_budget() noexcept {
  unsigned cpus = std::max(affinity_count(), 1u);
  try {
    cpus = tighter(cpus, cgroup_cpu_limit());
  } catch (...) {  // out of memory: the scheduler's answer stands
  }
  return cpus;
}

}  // namespace imgpack
