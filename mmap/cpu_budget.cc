#include "mmap/cpu_budget.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "mmap/control_groups.h"

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

unsigned affinity_count() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();  // more CPUs than the set has room for
}

}  // namespace

unsigned cgroup_cpu_limit(const fs::path& root) {
  unsigned found = 0;
  for (const ControlGroup& group : control_groups("cpu", root)) {  // each may have a limit
    const bool is_v2 = group.version == ControlGroup::Version::v2;
    found = tighter(found, is_v2 ? limit_v2(group.folder) : limit_v1(group.folder));
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
