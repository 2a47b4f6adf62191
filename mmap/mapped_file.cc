#include "mmap/mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "mmap/paths.h"
#include "mmap/system_error.h"

namespace imgpack {

namespace {

std::uint64_t page_size() noexcept {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

int advice_for(Access access) noexcept {
  switch (access) {
    case Access::sequential:
      return MADV_SEQUENTIAL;
    case Access::random:
      return MADV_RANDOM;
    case Access::normal:
      break;
  }
  return MADV_NORMAL;
}

struct PageRange {
  std::byte* begin;
  std::size_t size;
};

/// The pages that [offset, offset + size) touches, clipped to the file; with `passed` without the one in which it ends,
/// unless the file ends there too.
PageRange pages(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size, bool passed) noexcept {
  const std::uint64_t file_size = bytes.size();
  if (offset >= file_size) return {nullptr, 0};
  std::uint64_t end = offset + std::min(size, file_size - offset);
  const std::uint64_t page = page_size();
  const std::uint64_t begin = offset / page * page;
  if (passed && end != file_size) end = end / page * page;
  if (begin >= end) return {nullptr, 0};
  return {const_cast<std::byte*>(bytes.data()) + begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

MappedFile MappedFile::open(const std::filesystem::path& path, Access access) {
  return map(File::open(path, File::Mode::read), access);
}

MappedFile MappedFile::map(const File& file, Access access) {
  MappedFile mapped;
  mapped.path_ = file.path();
  mapped.identity_ = file.identity();
  const std::uint64_t size = file.size();
  if (size == 0) return mapped;
  if (size > std::numeric_limits<std::size_t>::max() / 2) {
    throw Error(ErrorCode::unsupported, "the file is too large to map", in_file(file.path()));
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (data == MAP_FAILED) throw system_error(errno, "map", file.path());
  mapped.data_ = static_cast<const std::byte*>(data);
  mapped.size_ = size;
  if (access != Access::normal) mapped.advise(access);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)),
      identity_(other.identity_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    path_ = std::move(other.path_);
    identity_ = other.identity_;
  }
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::advise(Access access) const noexcept {
  if (size_ != 0) ::madvise(const_cast<std::byte*>(data_), size_, advice_for(access));
}

void MappedFile::prefetch(std::uint64_t offset, std::uint64_t size) const noexcept {
  const PageRange range = pages(bytes(), offset, size, false);
  if (range.size != 0) ::madvise(range.begin, range.size, MADV_WILLNEED);
}

void MappedFile::populate(std::uint64_t offset, std::uint64_t size) const noexcept {
  const PageRange range = pages(bytes(), offset, size, false);
  if (range.size == 0) return;
#ifdef MADV_POPULATE_READ
  // Older kernels do not know it. On other failures (a truncated file, a bad page) touching would be a signal.
  if (::madvise(range.begin, range.size, MADV_POPULATE_READ) == 0 || errno != EINVAL) return;
#endif
  for (std::size_t at = 0; at < range.size; at += page_size()) {
    static_cast<void>(*static_cast<const volatile std::byte*>(range.begin + at));
  }
}

void MappedFile::release(std::uint64_t offset, std::uint64_t size) const noexcept {
  const PageRange range = pages(bytes(), offset, size, true);
  if (range.size != 0) ::madvise(range.begin, range.size, MADV_DONTNEED);
}

void release_pages(std::span<const std::byte> part_of_mapping) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(part_of_mapping.data());
  const std::uint64_t page = page_size();
  const std::uintptr_t first = begin / page * page;
  const std::uintptr_t end = (begin + part_of_mapping.size()) / page * page;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

void ReleaseBehind::advance(std::uint64_t offset) noexcept {
  if (offset < released_ + window_) return;
  file_.release(released_, offset - released_);
  released_ = offset;
}

}  // namespace imgpack
