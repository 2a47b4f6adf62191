// A whole file mapped read-only, with advice about how it will be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "mmap/file.h"

namespace imgpack {

enum class Access : std::uint8_t { normal, sequential, random };

/// Move-only; const functions are thread-safe, also after fork(). An empty file maps to an empty span.
///
/// The mapping shows the file as it is: whoever truncates it while it is mapped makes reads of the lost part fail with
/// SIGBUS. Packed files are published by rename and never changed in place, so this takes deliberate damage.
class MappedFile {
 public:
  static MappedFile open(const std::filesystem::path& path, Access access = Access::normal);
  /// Maps an already open file, which may be nameless; the descriptor may be closed afterwards.
  static MappedFile map(const File& file, Access access = Access::normal);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::uint64_t size() const noexcept { return size_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  FileIdentity identity() const noexcept { return identity_; }

  // Ranges are clipped to the file; each call is advice and cannot fail.

  /// Changes the expected access pattern of the whole mapping.
  void advise(Access access) const noexcept;
  /// Starts reading [offset, offset + size) into the page cache.
  void prefetch(std::uint64_t offset, std::uint64_t size) const noexcept;
  /// Maps the pages of [offset, offset + size) now, so that first touches do not fault. Reads them if need be.
  void populate(std::uint64_t offset, std::uint64_t size) const noexcept;
  /// Takes [offset, offset + size) out of this process's resident set; the page cache keeps it. The page in which the
  /// range begins goes too, the one in which it ends stays: small ranges, one after the other, leave nothing behind.
  void release(std::uint64_t offset, std::uint64_t size) const noexcept;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::filesystem::path path_;
  FileIdentity identity_;
};

/// MappedFile::release for a part of a mapping that is at hand as a span.
void release_pages(std::span<const std::byte> part_of_mapping) noexcept;

/// Calls release() behind a sequential walk through a mapping, so that the resident set stays below about `window`
/// bytes.
class ReleaseBehind {
 public:
  explicit ReleaseBehind(const MappedFile& file, std::uint64_t window = 32u << 20) noexcept
      : file_(file), window_(window) {}
  /// All before `offset` is no longer needed.
  void advance(std::uint64_t offset) noexcept;

 private:
  const MappedFile& file_;
  std::uint64_t window_;
  std::uint64_t released_ = 0;
};

}  // namespace imgpack
