// An owned file descriptor with whole-transfer reads and writes, whose failures are Errors that name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

struct iovec;

namespace imgpack {

/// Which file something is, whatever its path leads to by now.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Move-only. Positioned calls (read_at, write_at) are thread-safe.
class File {
 public:
  enum class Mode {
    read,        ///< existing file, read only
    create,      ///< new or truncated, read and write
    read_write,  ///< existing file
    open_or_create,
  };

  /// Throws not_found, io (permission, ...) naming `path`.
  static File open(const std::filesystem::path& path, Mode mode);
  /// A nameless file in `directory`, gone when closed.
  static File temporary(const std::filesystem::path& directory);

  File() = default;
  File(int descriptor, std::filesystem::path path) noexcept : descriptor_(descriptor), path_(std::move(path)) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  bool is_open() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  const std::filesystem::path& path() const noexcept { return path_; }

  std::uint64_t size() const;
  FileIdentity identity() const;
  /// Reads exactly `out.size()` bytes; a file that ends before throws damaged.
  void read_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// Reads up to `out.size()` bytes; fewer only at the end of the file.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> out) const;
  /// Writes all of `data`.
  void write_at(std::uint64_t offset, std::span<const std::byte> data);
  /// Writes all parts, one after the other.
  void write_at(std::uint64_t offset, std::span<const std::span<const std::byte>> parts);
  void truncate(std::uint64_t size);
  /// fdatasync.
  void sync();
  /// Asks the kernel to begin writing [offset, offset + size) to disk, without waiting. Best effort.
  void start_writeback(std::uint64_t offset, std::uint64_t size) noexcept;
  /// Drops [offset, offset + size) from the page cache where it is clean. Best effort.
  void drop_cache(std::uint64_t offset, std::uint64_t size) noexcept;
  /// Closes; a delayed write error throws io. The destructor closes silently.
  void close();

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// Copies [offset, offset + size) of `from` to `to` at `to_offset`, in the kernel where it can.
void copy_range(const File& from, std::uint64_t offset, std::uint64_t size, File& to, std::uint64_t to_offset);

}  // namespace imgpack
