// What a file lies on: kind of disk, filesystem, device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace imgpack::measure {

enum class StorageKind : std::uint8_t {
  unknown,
  hdd,
  ssd,
  nvme,
  virtual_disk,  ///< of a virtual machine, or a loop device: what is behind it does not show
  memory,        ///< tmpfs, ramfs, zram: there is no disk
  overlay,       ///< layers of other filesystems, as containers have them
  network,
};
/// "unknown", "HDD", "SSD", "NVMe", "virtual disk", "tmpfs", "overlay", "network".
std::string_view to_string(StorageKind kind) noexcept;

struct Storage {
  StorageKind kind = StorageKind::unknown;
  std::string filesystem;  ///< "ext4", "tmpfs", ..., or its number in hexadecimal
  std::string device;      ///< "nvme0n1", the disk and not its partition; empty where there is none

  /// "NVMe nvme0n1 (xfs)".
  std::string text() const;
};

/// What the file or folder at `path` lies on. Throws not_found or io. `root` has the system's files, as
/// "sys/dev/block/8:1" and so on; what is missing there or is not understood makes the kind unknown.
Storage storage_of(const std::filesystem::path& path, const std::filesystem::path& root = "/");

/// What the block device is, partitions and device-mapper or RAID volumes followed to their disks, of which the slowest
/// kind counts. The result has no filesystem.
Storage disk_of(std::uint32_t major, std::uint32_t minor, const std::filesystem::path& root = "/");

/// What statfs() calls `type`: the name, and a kind where the filesystem itself tells it (tmpfs, NFS, ...), else
/// unknown.
Storage filesystem_of(std::uint32_t type);

}  // namespace imgpack::measure
