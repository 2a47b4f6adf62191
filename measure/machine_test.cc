#include "measure/machine.h"

#include <doctest/doctest.h>

#include "tests/support/files.h"

namespace imgpack::measure {

using testing::TempDir;
using testing::write_file;

TEST_CASE("what the system tells about itself") {
  const TempDir root;
  write_file(root / "proc/loadavg", "1.25 0.50 0.10 2/300 12345\n");
  write_file(root / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz \n\nmodel name\t: Other\n");
  write_file(root / "proc/driver/nvidia/gpus/0000:41:00.0/information", "Model: \t\t NVIDIA B\nIRQ: 1\n");
  write_file(root / "proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA A\nIRQ: 1\n");
  CHECK(load_average(root.path()) == 1.25);
  CHECK(cpu_model(root.path()) == "Some CPU @ 2.00GHz");
  CHECK(gpu_models(root.path()) == std::vector<std::string>{"NVIDIA A", "NVIDIA B"});
}

TEST_CASE("a system that tells nothing") {
  const TempDir root;
  CHECK(load_average(root.path()) < 0);
  CHECK(cpu_model(root.path()).empty());
  CHECK(gpu_models(root.path()).empty());
}

}  // namespace imgpack::measure
