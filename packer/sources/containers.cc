#include "packer/sources/containers.h"

#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

constexpr std::size_t kMaxOpenFiles = 64;
constexpr const char* kChangedSize = "changed size while being read";

[[noreturn]] void refuse(std::string reason, const std::filesystem::path& file) {
  throw Error(ErrorCode::refused, std::move(reason), in_file(file));
}

/// Even what would be not_found elsewhere: it was there when it was listed.
[[noreturn]] void fail(int error, const char* what, const std::filesystem::path& file) {
  throw Error(ErrorCode::io, fmt::format("cannot {}: {}", what, std::generic_category().message(error)), in_file(file));
}

[[noreturn]] void refuse_or_fail(int error, const char* what, const std::filesystem::path& file) {
  if (const char* problem = entry_problem(error)) refuse(problem, file);
  fail(error, what, file);
}

/// Reads until `out` is full or the file ends; negative with errno set if that fails.
ssize_t read_up_to(int descriptor, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::read(descriptor, out.data() + done, out.size() - done);
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      return got;
    }
  }
  return static_cast<ssize_t>(done);
}

void read_loose_file(const File& folder, const std::string& path, ByteBuffer& out) {
  const auto name = [&folder, &path] { return folder.path() / path; };
  // O_NONBLOCK: whatever has taken a file's place since the listing (a FIFO, a device) must not block the build.
  const int descriptor = ::openat(folder.descriptor(), path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) refuse_or_fail(errno, "open", name());
  const File file(descriptor, {});  // closes; its name is only put together for an error
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(errno, "stat", name());
  if (S_ISDIR(status.st_mode)) refuse("is a folder", name());
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file", name());
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxEntryBytes) refuse(fmt::format("is larger than {} bytes", kMaxEntryBytes), name());
  // One byte more than there should be: a full read shows in the same call that the file has grown.
  const ssize_t got = read_up_to(descriptor, out.resize(static_cast<std::size_t>(size) + 1));
  if (got < 0) refuse_or_fail(errno, "read", name());
  if (static_cast<std::uint64_t>(got) != size) refuse(kChangedSize, name());
  out.shrink(static_cast<std::size_t>(got));
}

}  // namespace

const char* entry_problem(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ESTALE:
      return "vanished since it was listed";
    case EACCES:
    case EPERM:
      return "permission denied";
    case ELOOP:
      return "loop of symbolic links";
    case ENAMETOOLONG:
      return "path is too long";
    case ENXIO:
    case ENODEV:
      return "is not a regular file";
    case EISDIR:
      return "is a folder";
    default:
      return nullptr;
  }
}

File open_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) return File(descriptor, folder);
  const int error = errno;
  if (error == ENOENT) throw Error(ErrorCode::not_found, "no such folder", in_file(folder));
  if (error == ENOTDIR) refuse("is not a folder", folder);
  fail(error, "open folder", folder);
}

struct ContainerSet::Container {
  std::filesystem::path path;
  File folder;  ///< open for folders only
  // What a file was when it was listed: the same must be found when it is opened again.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
};

/// The files that were used last. Thread-safe.
class ContainerSet::OpenFiles {
 public:
  std::shared_ptr<const File> get(const std::vector<Container>& containers, std::uint32_t number) {
    {
      const std::lock_guard lock(mutex_);
      for (Slot& slot : slots_) {
        if (slot.number != number) continue;
        slot.last_use = ++clock_;
        return slot.file;
      }
    }
    // Opened outside the lock: on a network file system this takes a while. Two threads may open the same file;
    // harmless.
    auto file = std::make_shared<const File>(open(containers[number]));
    const std::lock_guard lock(mutex_);
    if (slots_.size() < kMaxOpenFiles) {
      slots_.push_back({number, ++clock_, file});
    } else {
      auto oldest = slots_.begin();
      for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
        if (slot->last_use < oldest->last_use) oldest = slot;
      }
      *oldest = {number, ++clock_, file};
    }
    return file;
  }

 private:
  struct Slot {
    std::uint32_t number;
    std::uint64_t last_use;
    std::shared_ptr<const File> file;
  };

  static File open(const Container& container) {
    const int descriptor = ::open(container.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) refuse_or_fail(errno, "open", container.path);
    File file(descriptor, container.path);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) fail(errno, "stat", container.path);
    if (status.st_dev != container.device || status.st_ino != container.inode ||
        static_cast<std::uint64_t>(status.st_size) != container.size) {
      refuse("is not the file that was listed: it was replaced or changed size", container.path);
    }
    return file;
  }

  std::mutex mutex_;
  std::uint64_t clock_ = 0;
  std::vector<Slot> slots_;
};

ContainerSet::ContainerSet() : open_files_(std::make_unique<OpenFiles>()) {}
ContainerSet::~ContainerSet() = default;
ContainerSet::ContainerSet(ContainerSet&&) noexcept = default;
ContainerSet& ContainerSet::operator=(ContainerSet&&) noexcept = default;

std::uint32_t ContainerSet::add_folder(const std::filesystem::path& folder) {
  containers_.push_back({.path = folder, .folder = open_folder(folder), .device = 0, .inode = 0, .size = 0});
  return size() - 1;
}

std::uint32_t ContainerSet::add_file(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) throw Error(ErrorCode::not_found, "no such file", in_file(file));
    fail(errno, "stat", file);
  }
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file", file);
  containers_.push_back({.path = file,
                         .folder = {},
                         .device = status.st_dev,
                         .inode = status.st_ino,
                         .size = static_cast<std::uint64_t>(status.st_size)});
  return size() - 1;
}

std::uint32_t ContainerSet::size() const noexcept {
  return static_cast<std::uint32_t>(containers_.size());
}

const std::filesystem::path& ContainerSet::path(std::uint32_t container) const noexcept {
  return containers_[container].path;
}

bool ContainerSet::is_folder(std::uint32_t container) const noexcept {
  return containers_[container].folder.is_open();
}

void ContainerSet::read_range(const Container& container, const SourceEntry& entry, ByteBuffer& out) const {
  if (entry.size > kMaxEntryBytes) {
    throw Error(ErrorCode::refused, fmt::format("'{}' is larger than {} bytes", entry.key, kMaxEntryBytes),
                in_file(container.path, entry.offset));
  }
  const std::span<std::byte> bytes = out.resize(static_cast<std::size_t>(entry.size));
  const bool inside = entry.offset <= container.size && entry.size <= container.size - entry.offset;
  if (!inside || open_files_->get(containers_, entry.container)->read_some_at(entry.offset, bytes) != bytes.size()) {
    throw Error(ErrorCode::refused, kChangedSize, in_file(container.path, entry.offset));
  }
}

void ContainerSet::read(const SourceEntry& entry, ByteBuffer& out) const {
  if (entry.container >= containers_.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("no container {} in this source", entry.container));
  }
  if (!entry.problem.empty()) refuse(entry.problem, place(entry));
  const Container& container = containers_[entry.container];
  if (container.folder.is_open()) {
    read_loose_file(container.folder, entry.path, out);
  } else {
    read_range(container, entry, out);
  }
}

std::string ContainerSet::place(const SourceEntry& entry) const {
  if (entry.container >= containers_.size()) return entry.path;
  const Container& container = containers_[entry.container];
  return container.folder.is_open() ? (container.path / entry.path).native() : container.path.native();
}

}  // namespace imgpack
