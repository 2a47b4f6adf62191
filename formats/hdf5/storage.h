// The bytes of an HDF5 file as libhdf5 sees them: a driver of ours instead of the library's own file access.
//
// It serves three ends. Payloads that are already in the file stay where they are when libhdf5 makes the file around
// them (its own drivers truncate). A failed write is kept as the Error that it is, and the library is told that all is
// well from then on, since a failing H5Fclose would leave it with an open file for good. And a damaged file cannot make
// the library read without bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "formats/hdf5/library.h"
#include "mmap/file.h"

namespace imgpack::hdf5 {

/// Functions may throw. Not thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::uint64_t size() const = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> out) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> data) = 0;
  virtual void resize(std::uint64_t size) = 0;
};

/// Read-only bytes, which must outlive it. Single reads are bounded: only metadata goes this way.
class MemoryStorage : public Storage {
 public:
  explicit MemoryStorage(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;
  void write(std::uint64_t offset, std::span<const std::byte> data) override;
  void resize(std::uint64_t size) override;

 private:
  std::span<const std::byte> bytes_;
};

/// A file on disk, which must outlive it. Creating an HDF5 file in it keeps the bytes that are there.
class FileStorage : public Storage {
 public:
  explicit FileStorage(File& file) noexcept : file_(file) {}
  std::uint64_t size() const override { return file_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) override;
  void write(std::uint64_t offset, std::span<const std::byte> data) override { file_.write_at(offset, data); }
  void resize(std::uint64_t size) override { file_.truncate(size); }

 private:
  File& file_;
};

/// Forgets what is written: for trying out how libhdf5 lays out a file.
class NoStorage : public Storage {
 public:
  std::uint64_t size() const override { return 0; }
  void read(std::uint64_t offset, std::span<std::byte> out) override;
  void write(std::uint64_t, std::span<const std::byte>) override {}
  void resize(std::uint64_t) override {}
};

/// An HDF5 file open over a Storage, which must outlive it. REQUIRES: a Session for its whole life.
class Connection {
 public:
  enum class Mode { create, read };

  /// Does not throw if libhdf5 refuses the file: see valid() and refusal().
  Connection(Storage& storage, Mode mode);
  /// Whatever the library still wants to write is dropped.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool valid() const noexcept { return file_.valid(); }
  const std::string& refusal() const noexcept { return refusal_; }
  hid_t file() const noexcept { return file_.get(); }
  /// Throws what a function of the Storage threw, if one did: the cause behind a failed call of the library.
  void rethrow_failure() const;
  /// Writes all and closes. Throws as rethrow_failure() does; returns false if the library failed by itself.
  bool close();

  struct Channel;

 private:
  std::shared_ptr<Channel> channel_;
  FileHandle file_;
  std::string refusal_;
};

}  // namespace imgpack::hdf5
