#include "measure/storage_kind.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;
using testing::TempDir;
using testing::write_file;

/// A /sys with devices of which a test says what they are.
class FakeSys {
 public:
  const fs::path& root() const { return folder_.path(); }

  fs::path disk(const std::string& number, const std::string& name, const std::string& rotational) {
    const fs::path device = folder_ / "sys/devices" / name;
    write_file(device / "queue/rotational", rotational + "\n");
    link(number, device);
    return device;
  }
  fs::path partition(const std::string& number, const fs::path& disk, const std::string& name) {
    write_file(disk / name / "partition", "1\n");
    link(number, disk / name);
    return disk / name;
  }
  void volume(const std::string& number, const std::string& name, std::initializer_list<fs::path> below) {
    const fs::path device = disk(number, name, "0");
    fs::create_directories(device / "slaves");
    for (const fs::path& slave : below) fs::create_directory_symlink(slave, device / "slaves" / slave.filename());
  }

 private:
  void link(const std::string& number, const fs::path& device) {
    fs::create_directories(folder_ / "sys/dev/block");
    fs::create_directory_symlink(device, folder_ / "sys/dev/block" / number);
  }

  TempDir folder_;
};

std::string disk_text(const FakeSys& sys, std::uint32_t major, std::uint32_t minor) {
  return disk_of(major, minor, sys.root()).text();
}

}  // namespace

TEST_CASE("disks are told by name and by whether they rotate") {
  FakeSys sys;
  sys.disk("8:0", "sda", "1");
  sys.disk("8:16", "sdb", "0");
  sys.disk("259:0", "nvme0n1", "0");
  sys.disk("254:0", "vda", "1");
  sys.disk("7:0", "loop0", "1");
  sys.disk("43:0", "nbd0", "0");
  sys.disk("253:0", "zram0", "0");
  sys.disk("8:32", "sdc", "?");
  CHECK(disk_text(sys, 8, 0) == "HDD sda");
  CHECK(disk_text(sys, 8, 16) == "SSD sdb");
  CHECK(disk_text(sys, 259, 0) == "NVMe nvme0n1");
  CHECK(disk_text(sys, 254, 0) == "virtual disk vda");
  CHECK(disk_text(sys, 7, 0) == "virtual disk loop0");
  CHECK(disk_text(sys, 43, 0) == "network nbd0");
  CHECK(disk_text(sys, 253, 0) == "tmpfs zram0");
  CHECK(disk_text(sys, 8, 32) == "unknown sdc");
  CHECK(disk_text(sys, 99, 9) == "unknown");
}

TEST_CASE("a disk of a hypervisor does not rotate, whatever it says") {
  FakeSys sys;
  write_file(sys.disk("8:0", "sda", "1") / "device/vendor", "QEMU    \n");
  write_file(sys.disk("259:0", "nvme0n1", "0") / "device/model", "Amazon Elastic Block Store              \n");
  CHECK(disk_text(sys, 8, 0) == "virtual disk sda");
  CHECK(disk_text(sys, 259, 0) == "network nvme0n1");
}

TEST_CASE("partitions and volumes lead to their disks, of which the slowest counts") {
  FakeSys sys;
  const fs::path slow = sys.partition("8:1", sys.disk("8:0", "sda", "1"), "sda1");
  const fs::path fast = sys.partition("259:1", sys.disk("259:0", "nvme0n1", "0"), "nvme0n1p1");
  sys.volume("252:0", "dm-0", {fast});
  sys.volume("252:1", "dm-1", {fast, slow});
  sys.volume("9:0", "md0", {sys.root() / "sys/dev/block/252:1", sys.root() / "sys/dev/block/252:0"});
  CHECK(disk_text(sys, 8, 1) == "HDD sda");
  CHECK(disk_text(sys, 252, 0) == "NVMe nvme0n1");
  CHECK(disk_text(sys, 252, 1) == "HDD sda");
  CHECK(disk_text(sys, 9, 0) == "HDD sda");
}

TEST_CASE("volumes that lie on themselves end nowhere") {
  FakeSys sys;
  const fs::path device = sys.disk("252:0", "dm-0", "0");
  fs::create_directories(device / "slaves");
  fs::create_directory_symlink(device, device / "slaves/dm-0");
  CHECK(disk_of(252, 0, sys.root()).kind == StorageKind::unknown);
}

TEST_CASE("filesystems without a disk tell by themselves what they are") {
  CHECK(filesystem_of(0x01021994).text() == "tmpfs");
  CHECK(filesystem_of(0x6969).text() == "network (nfs)");
  CHECK(filesystem_of(0xff534d42).text() == "network (cifs)");
  CHECK(filesystem_of(0x794c7630).text() == "overlay");
  CHECK(filesystem_of(0xef53).text() == "unknown (ext4)");
  CHECK(filesystem_of(0x1234).text() == "unknown (0x1234)");
}

TEST_CASE("a file is on the device that its number leads to") {
  const TempDir folder;
  write_file(folder / "file", "x");
  struct stat status {};
  REQUIRE(::stat((folder / "file").c_str(), &status) == 0);
  FakeSys sys;
  sys.disk(std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev)), "sdx", "1");
  const Storage found = storage_of(folder / "file", sys.root());
  CHECK_FALSE(found.filesystem.empty());
  // Where temporary files lie in memory or in layers, the filesystem has said so already.
  CHECK((found.device == "sdx" || found.kind == StorageKind::memory || found.kind == StorageKind::overlay));
  CHECK(storage_of("/dev/shm").text() == "tmpfs");
  CHECK_THROWS_AS(storage_of(folder / "absent"), Error);
}

}  // namespace imgpack::measure
