// Memory limits of control groups, from files as Linux writes them.
#include "mmap/memory_budget.h"

#include <limits>

#include <doctest/doctest.h>

#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;

TEST_CASE("without files nothing is known to be limited") {
  TempDir root;
  CHECK(memory_available(root.path()) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("what the whole machine has left") {
  TempDir root;
  write_file(root / "proc/meminfo", "MemTotal:  2000 kB\nMemFree:   1 kB\nMemAvailable:    1000 kB\nBuffers: 3 kB\n");
  CHECK(memory_available(root.path()) == 1000 * 1024);
  write_file(root / "proc/meminfo", "MemTotal:  2000 kB\nMemAvailable: much\n");
  CHECK(memory_available(root.path()) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a group, or one around it, leaves less, and its page cache counts as free") {
  TempDir root;
  write_file(root / "proc/meminfo", "MemAvailable:    1000 kB\n");
  write_file(root / "proc/self/cgroup", "0::/outer/inner\n");
  write_file(root / "sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write_file(root / "sys/fs/cgroup/outer/inner/memory.current", "5\n");
  CHECK(memory_available(root.path()) == 1000 * 1024);
  write_file(root / "sys/fs/cgroup/outer/memory.max", "500000\n");
  write_file(root / "sys/fs/cgroup/outer/memory.current", "400000\n");
  CHECK(memory_available(root.path()) == 100000);
  write_file(root / "sys/fs/cgroup/outer/memory.stat", "anon 7\ninactive_file 30000\nactive_file 20000\n");
  CHECK(memory_available(root.path()) == 150000);
  write_file(root / "sys/fs/cgroup/outer/inner/memory.max", "4\n");  // lowered below what is used
  CHECK(memory_available(root.path()) == 0);
}

TEST_CASE("version 1, where no limit is a large number") {
  TempDir root;
  write_file(root / "proc/meminfo", "MemAvailable:    1000 kB\n");
  write_file(root / "proc/self/cgroup", "12:cpu,cpuacct:/a\n9:memory:/a\n0::/\n");
  write_file(root / "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  write_file(root / "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n");
  CHECK(memory_available(root.path()) == 1000 * 1024);
  write_file(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
  write_file(root / "sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
  write_file(root / "sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 100\ntotal_active_file 200\n");
  CHECK(memory_available(root.path()) == 1300);
}
