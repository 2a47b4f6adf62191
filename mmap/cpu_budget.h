// How many CPUs this process may keep busy.
#pragma once

#include <filesystem>

namespace imgpack {

/// The CPUs that the scheduler lets this process run on, or fewer where a control group grants it less time than that
/// (cpu.max, or cpu.cfs_quota_us of version 1; rounded up). At least 1.
unsigned cpu_budget() noexcept;

/// The time that control groups grant, in CPUs, rounded up; 0 for no limit. `root` has the files of /proc/self/cgroup
/// and /sys/fs/cgroup, as "proc/self/cgroup" and so on. Files that are not there or not understood mean no limit.
unsigned cgroup_cpu_limit(const std::filesystem::path& root = "/");

}  // namespace imgpack
