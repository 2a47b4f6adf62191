#include "mmap/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mmap/system_error.h"

namespace imgpack {

namespace {

constexpr std::size_t kLargestTransfer = 1u << 30;  // the kernel moves at most 2 GiB - 4096 a call
constexpr std::size_t kMaxParts = 64;

int open_flags(File::Mode mode) {
  switch (mode) {
    case File::Mode::read:
      return O_RDONLY;
    case File::Mode::create:
      return O_RDWR | O_CREAT | O_TRUNC;
    case File::Mode::read_write:
      return O_RDWR;
    case File::Mode::open_or_create:
      return O_RDWR | O_CREAT;
  }
  return O_RDONLY;
}

}  // namespace

File File::open(const std::filesystem::path& path, Mode mode) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), open_flags(mode) | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) throw system_error(errno, "open", path);
  return File(descriptor, path);
}

File File::temporary(const std::filesystem::path& directory) {
  int descriptor;
  do {
    descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    // Not every file system has O_TMPFILE.
    std::string name = (directory / ".imgpack-XXXXXX").string();
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) throw system_error(errno, "create a temporary file in", directory);
    ::unlink(name.c_str());
  }
  return File(descriptor, directory / "(temporary file)");
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t File::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw system_error(errno, "stat", path_);
  return static_cast<std::uint64_t>(status.st_size);
}

FileIdentity File::identity() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) throw system_error(errno, "stat", path_);
  return {.device = status.st_dev, .inode = status.st_ino};
}

std::size_t File::read_some_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t wanted = std::min(out.size() - done, kLargestTransfer);
    const ssize_t got = ::pread(descriptor_, out.data() + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw system_error(errno, "read", path_, offset + done);
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t got = read_some_at(offset, out);
  if (got != out.size()) {
    throw Error(ErrorCode::damaged, "the file ends too early",
                {.file = path_.string(), .record = std::nullopt, .offset = offset + got});
  }
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> data) {
  std::size_t done = 0;
  while (done < data.size()) {
    const std::size_t wanted = std::min(data.size() - done, kLargestTransfer);
    const ssize_t put = ::pwrite(descriptor_, data.data() + done, wanted, static_cast<off_t>(offset + done));
    if (put < 0) {
      if (errno == EINTR) continue;
      throw system_error(errno, "write", path_, offset + done);
    }
    if (put == 0) throw system_error(EIO, "write", path_, offset + done);  // a driver that makes no progress
    done += static_cast<std::size_t>(put);
  }
}

void File::write_at(std::uint64_t offset, std::span<const std::span<const std::byte>> parts) {
  iovec vectors[kMaxParts];
  while (!parts.empty()) {
    const std::size_t count = std::min(parts.size(), kMaxParts);
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
      total += parts[i].size();
    }
    const ssize_t put = ::pwritev(descriptor_, vectors, static_cast<int>(count), static_cast<off_t>(offset));
    if (put < 0 && errno != EINTR) throw system_error(errno, "write", path_, offset);
    std::size_t done = put < 0 ? 0 : static_cast<std::size_t>(put);
    if (done < total) {
      // A partial write: the rest of these parts goes one by one.
      std::uint64_t at = offset;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t skip = std::min(done, parts[i].size());
        write_at(at + skip, parts[i].subspan(skip));
        done -= skip;
        at += parts[i].size();
      }
    }
    offset += total;
    parts = parts.subspan(count);
  }
}

void File::truncate(std::uint64_t size) {
  int result;
  do {
    result = ::ftruncate(descriptor_, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  if (result != 0) throw system_error(errno, "set the size of", path_);
}

void File::sync() {
  int result;
  do {
    result = ::fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  if (result != 0) throw system_error(errno, "sync", path_);
}

void File::start_writeback(std::uint64_t offset, std::uint64_t size) noexcept {
  if (size == 0) return;  // 0 means "to the end" to the kernel
  ::sync_file_range(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
}

void File::drop_cache(std::uint64_t offset, std::uint64_t size) noexcept {
  if (size == 0) return;  // likewise
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_DONTNEED);
}

void File::close() {
  if (descriptor_ < 0) return;
  const int descriptor = std::exchange(descriptor_, -1);
  // On Linux the descriptor is gone even if close() reports EINTR.
  if (::close(descriptor) != 0 && errno != EINTR) throw system_error(errno, "close", path_);
}

void copy_range(const File& from, std::uint64_t offset, std::uint64_t size, File& to, std::uint64_t to_offset) {
  std::uint64_t done = 0;
  while (done < size) {
    off_t in = static_cast<off_t>(offset + done);
    off_t out = static_cast<off_t>(to_offset + done);
    const ssize_t copied = ::copy_file_range(from.descriptor(), &in, to.descriptor(), &out,
                                             std::min<std::uint64_t>(size - done, kLargestTransfer), 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) break;  // different file systems, or not supported: copy through memory
    done += static_cast<std::uint64_t>(copied);
  }
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size - done, 1u << 20)));
  while (done < size) {
    const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - done));
    from.read_at(offset + done, piece);
    to.write_at(to_offset + done, piece);
    done += piece.size();
  }
}

}  // namespace imgpack
