#include "mmap/control_groups.h"

#include <doctest/doctest.h>

#include "tests/support/files.h"

namespace imgpack {

namespace {

using testing::TempDir;
using testing::write_file;
using Version = ControlGroup::Version;

TEST_CASE("the groups of a process, and those around them, of both versions") {
  const TempDir root;
  const std::filesystem::path mounts = root / "sys/fs/cgroup";
  CHECK(control_groups("cpu", root.path()).empty());
  write_file(root / "proc/self/cgroup",
             "12:cpuset:/set\n5:memory:/a:b/c\n4:cpu,cpuacct:/box\nnonsense\n1:name=systemd:/init\n0::/\n");
  CHECK(control_groups("memory", root.path()) == std::vector<ControlGroup>{{Version::v1, mounts / "memory"},
                                                                           {Version::v1, mounts / "memory/a:b"},
                                                                           {Version::v1, mounts / "memory/a:b/c"},
                                                                           {Version::v2, mounts}});
  CHECK(control_groups("cpu", root.path()) == std::vector<ControlGroup>{{Version::v1, mounts / "cpu"},
                                                                        {Version::v1, mounts / "cpu/box"},
                                                                        {Version::v1, mounts / "cpu,cpuacct"},
                                                                        {Version::v1, mounts / "cpu,cpuacct/box"},
                                                                        {Version::v2, mounts}});
  write_file(root / "proc/self/cgroup", "0::/outer/inner\n");
  CHECK(control_groups("cpu", root.path()) == std::vector<ControlGroup>{{Version::v2, mounts},
                                                                        {Version::v2, mounts / "outer"},
                                                                        {Version::v2, mounts / "outer/inner"}});
}

}  // namespace

}  // namespace imgpack
