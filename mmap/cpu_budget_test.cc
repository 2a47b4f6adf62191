#include "mmap/cpu_budget.h"

#include <doctest/doctest.h>

#include <sched.h>

#include "tests/support/files.h"

namespace imgpack {

namespace {

using testing::TempDir;
using testing::write_file;

TEST_CASE("a control group's limit, rounded up, or that of a group around it") {
  const TempDir root;
  CHECK(cgroup_cpu_limit(root.path()) == 0);
  write_file(root / "proc/self/cgroup", "0::/outer/inner\n");
  CHECK(cgroup_cpu_limit(root.path()) == 0);
  write_file(root / "sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  CHECK(cgroup_cpu_limit(root.path()) == 0);
  write_file(root / "sys/fs/cgroup/outer/inner/cpu.max", "250000 100000\n");
  CHECK(cgroup_cpu_limit(root.path()) == 3);
  write_file(root / "sys/fs/cgroup/outer/cpu.max", "50000 100000\n");
  CHECK(cgroup_cpu_limit(root.path()) == 1);
  write_file(root / "sys/fs/cgroup/outer/cpu.max", "nonsense");
  CHECK(cgroup_cpu_limit(root.path()) == 3);
}

TEST_CASE("version 1 of control groups") {
  const TempDir root;
  write_file(root / "proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/box\n");
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  CHECK(cgroup_cpu_limit(root.path()) == 0);
  write_file(root / "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "400000\n");
  CHECK(cgroup_cpu_limit(root.path()) == 4);
}

TEST_CASE("the scheduler's set of CPUs") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(cpu_budget() >= 1);
  CHECK(cpu_budget() <= static_cast<unsigned>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    CPU_SET(cpu, &one);
    break;
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(cpu_budget() == 1);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

}  // namespace

}  // namespace imgpack
