// Reads that bypass the page cache (O_DIRECT), for datasets larger than memory and for cold measurements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "mmap/file.h"

namespace imgpack {

/// Memory aligned for unbuffered reads. Move-only.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// REQUIRES: `alignment` is a power of two and a multiple of sizeof(void*). Throws std::bad_alloc.
  AlignedBuffer(std::size_t size, std::size_t alignment);
  std::span<std::byte> bytes() const noexcept { return {data_.get(), data_ ? size_ : 0}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Thread-safe for const functions.
class UnbufferedFile {
 public:
  /// Where the file system cannot bypass the cache (tmpfs, some network disks), falls back to ordinary reads: see
  /// direct().
  static UnbufferedFile open(const std::filesystem::path& path);

  bool direct() const noexcept { return direct_; }
  std::uint64_t size() const noexcept { return size_; }
  FileIdentity identity() const { return file_.identity(); }
  /// Buffers for read() begin at multiples of this many bytes.
  std::size_t alignment() const noexcept { return alignment_; }

  /// Bytes of buffer that read() needs for a range of `size` bytes anywhere in the file.
  std::size_t buffer_size(std::uint64_t size) const noexcept;
  /// Reads [offset, offset + size) through `buffer`, which must be aligned and buffer_size(size) long, and returns the
  /// asked part of it. Throws damaged if the file ends before, io if the read fails.
  std::span<const std::byte> read(std::uint64_t offset, std::uint64_t size, AlignedBuffer& buffer) const;

 private:
  File file_;
  bool direct_ = false;
  std::uint64_t size_ = 0;
  std::size_t alignment_ = 1;
};

}  // namespace imgpack
