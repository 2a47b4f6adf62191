// A file that grows at its end through a buffer: what writers of packed formats and logs append to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "mmap/file.h"

namespace imgpack {

/// Not thread-safe. Destroying it without flush() drops what is buffered. Errors throw io and name the file; after one,
/// the file's content beyond flushed() is undefined.
class AppendFile {
 public:
  /// Goes on at `offset`, cutting off what lies behind it. `file` must outlive this object and stay where it is.
  AppendFile(File& file, std::uint64_t offset, std::size_t buffer_size = 1u << 20);

  /// Offset at which the next byte goes.
  std::uint64_t position() const noexcept { return flushed_ + buffer_.size(); }
  /// All before this offset has been handed to the kernel.
  std::uint64_t flushed() const noexcept { return flushed_; }

  /// Large spans go straight to the kernel without being copied.
  void append(std::span<const std::byte> data);
  /// Zeros up to the next multiple of `alignment`. REQUIRES: alignment > 0.
  void pad_to(std::uint64_t alignment);
  void flush();
  /// Asks the kernel to begin writing to disk what has been flushed, if that is some megabytes more than at the last
  /// call: so that a sync at the end does not find everything still to do. Best effort.
  void write_behind() noexcept;

 private:
  File* file_;
  std::uint64_t flushed_;
  std::uint64_t written_behind_;  ///< all before this offset has been asked to be written to disk
  std::size_t capacity_;
  std::vector<std::byte> buffer_;
};

}  // namespace imgpack
