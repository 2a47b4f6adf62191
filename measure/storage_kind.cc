#include "measure/storage_kind.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "mmap/enum_names.h"
#include "mmap/system_error.h"

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

constexpr EnumNames<StorageKind, 8> kNames = {{{StorageKind::unknown, "unknown"},
                                               {StorageKind::hdd, "HDD"},
                                               {StorageKind::ssd, "SSD"},
                                               {StorageKind::nvme, "NVMe"},
                                               {StorageKind::virtual_disk, "virtual disk"},
                                               {StorageKind::memory, "tmpfs"},
                                               {StorageKind::overlay, "overlay"},
                                               {StorageKind::network, "network"}}};

struct FilesystemEntry {
  std::uint32_t type;
  std::string_view name;
  StorageKind kind;
};

/// Numbers from statfs(2) and the kernel's magic.h.
constexpr std::array kFilesystems = {
    FilesystemEntry{0x0000ef53, "ext4", StorageKind::unknown},
    FilesystemEntry{0x58465342, "xfs", StorageKind::unknown},
    FilesystemEntry{0x9123683e, "btrfs", StorageKind::unknown},
    FilesystemEntry{0x2fc12fc1, "zfs", StorageKind::unknown},
    FilesystemEntry{0xf2f52010, "f2fs", StorageKind::unknown},
    FilesystemEntry{0x73717368, "squashfs", StorageKind::unknown},
    FilesystemEntry{0x00004d44, "vfat", StorageKind::unknown},
    FilesystemEntry{0x2011bab0, "exfat", StorageKind::unknown},
    FilesystemEntry{0x5346544e, "ntfs", StorageKind::unknown},
    FilesystemEntry{0x65735546, "fuse", StorageKind::unknown},
    FilesystemEntry{0x01021994, "tmpfs", StorageKind::memory},
    FilesystemEntry{0x858458f6, "ramfs", StorageKind::memory},
    FilesystemEntry{0x958458f6, "hugetlbfs", StorageKind::memory},
    FilesystemEntry{0x794c7630, "overlay", StorageKind::overlay},
    FilesystemEntry{0x00006969, "nfs", StorageKind::network},
    FilesystemEntry{0x0000517b, "smb", StorageKind::network},
    FilesystemEntry{0xff534d42, "cifs", StorageKind::network},
    FilesystemEntry{0xfe534d42, "smb2", StorageKind::network},
    FilesystemEntry{0x00c36400, "ceph", StorageKind::network},
    FilesystemEntry{0x0bd00bd0, "lustre", StorageKind::network},
    FilesystemEntry{0x47504653, "gpfs", StorageKind::network},
    FilesystemEntry{0x5346414f, "afs", StorageKind::network},
    FilesystemEntry{0x01021997, "9p", StorageKind::network},
};

/// Volumes may lie on volumes; deeper than this is a loop of links.
constexpr int kDeepest = 8;

/// The first line, without blanks at its end; empty if it can't be read.
std::string read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.find_last_not_of(" \t\r\n");
  return line.substr(0, end == std::string::npos ? 0 : end + 1);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [text](std::string_view part) { return text.find(part) != std::string::npos; });
}

/// Hypervisors present disks whose "rotational" is a default and means nothing.
bool is_virtual(const std::string& name, const fs::path& folder) {
  if (starts_with_any(name, {"vd", "xvd", "loop"})) return true;
  return contains_any(read_line(folder / "device/vendor"), {"QEMU", "VMware", "Msft", "Google", "VBOX"});
}

StorageKind kind_of_disk(const std::string& name, const fs::path& folder) {
  if (starts_with_any(name, {"zram", "ram", "pmem"})) return StorageKind::memory;
  if (starts_with_any(name, {"nbd", "rbd", "drbd"})) return StorageKind::network;
  if (contains_any(read_line(folder / "device/model"), {"Elastic Block Store"})) return StorageKind::network;
  if (name.starts_with("nvme")) return StorageKind::nvme;
  if (is_virtual(name, folder)) return StorageKind::virtual_disk;
  const std::string rotational = read_line(folder / "queue/rotational");
  if (rotational == "1") return StorageKind::hdd;
  return rotational == "0" ? StorageKind::ssd : StorageKind::unknown;
}

/// Slower kinds are higher: a volume is as fast as its slowest disk.
int slowness(StorageKind kind) {
  constexpr std::array kFastestFirst = {StorageKind::memory,       StorageKind::nvme,    StorageKind::ssd,
                                        StorageKind::virtual_disk, StorageKind::unknown, StorageKind::hdd,
                                        StorageKind::network};
  const auto* found = std::ranges::find(kFastestFirst, kind);
  return static_cast<int>(found - kFastestFirst.begin());
}

std::vector<fs::path> slaves_of(const fs::path& folder) {
  std::vector<fs::path> slaves;
  std::error_code failed;
  for (fs::directory_iterator entry(folder / "slaves", failed), end; !failed && entry != end; entry.increment(failed)) {
    slaves.push_back(entry->path());
  }
  std::ranges::sort(slaves);
  return slaves;
}

Storage disk_at(const fs::path& link, int depth) {
  std::error_code failed;
  fs::path folder = fs::canonical(link, failed);
  if (failed || depth > kDeepest) return {};
  if (fs::exists(folder / "partition", failed)) folder = folder.parent_path();
  const std::vector<fs::path> slaves = slaves_of(folder);
  if (slaves.empty()) {
    std::string name = folder.filename().string();
    const StorageKind kind = kind_of_disk(name, folder);
    return {.kind = kind, .filesystem = {}, .device = std::move(name)};
  }
  Storage slowest = disk_at(slaves.front(), depth + 1);
  for (std::size_t i = 1; i < slaves.size(); ++i) {
    Storage disk = disk_at(slaves[i], depth + 1);
    if (slowness(disk.kind) > slowness(slowest.kind)) slowest = std::move(disk);
  }
  return slowest;
}

}  // namespace

std::string_view to_string(StorageKind kind) noexcept {
  return name_of(kNames, kind);
}

std::string Storage::text() const {
  std::string text(to_string(kind));
  if (!device.empty()) text += " " + device;
  if (!filesystem.empty() && filesystem != to_string(kind)) text += " (" + filesystem + ")";
  return text;
}

Storage filesystem_of(std::uint32_t type) {
  for (const FilesystemEntry& entry : kFilesystems) {
    if (entry.type == type) return {.kind = entry.kind, .filesystem = std::string(entry.name), .device = {}};
  }
  return {.kind = StorageKind::unknown, .filesystem = fmt::format("{:#x}", type), .device = {}};
}

Storage disk_of(std::uint32_t major, std::uint32_t minor, const fs::path& root) {
  return disk_at(root / "sys/dev/block" / fmt::format("{}:{}", major, minor), 0);
}

Storage storage_of(const fs::path& path, const fs::path& root) {
  struct statfs filesystem {};
  struct stat status {};
  if (::statfs(path.c_str(), &filesystem) != 0 || ::stat(path.c_str(), &status) != 0) {
    throw system_error(errno, "ask what it lies on", path);
  }
  Storage result = filesystem_of(static_cast<std::uint32_t>(filesystem.f_type));
  if (result.kind != StorageKind::unknown) return result;
  Storage disk = disk_of(major(status.st_dev), minor(status.st_dev), root);
  disk.filesystem = std::move(result.filesystem);
  return disk;
}

}  // namespace imgpack::measure
