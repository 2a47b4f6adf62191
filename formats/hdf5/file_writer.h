// Making the objects of an HDF5 file in the one way in which this format makes them: contiguous, allocated when
// created, never filled, without times. Equal calls give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/checksum.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/storage.h"

namespace imgpack::hdf5 {

class FileWriter;

/// A dataset that is written from its start to its end, in pieces, and then sealed with the digest of its content.
class DatasetWriter {
 public:
  /// The next bytes. Rows, that is elements of the first dimension, are written when they are complete.
  void append(std::span<const std::byte> bytes);
  /// Adds the digest. Throws invalid_argument if bytes are missing.
  void seal();
  /// Where its bytes begin in the file; HADDR_UNDEF if it has none.
  haddr_t offset() const;
  hid_t id() const noexcept { return dataset_.get(); }

 private:
  friend class FileWriter;
  DatasetWriter(FileWriter& file, DatasetHandle dataset, TypeHandle type, std::vector<hsize_t> dimensions,
                std::size_t row_size);
  void write_rows(std::span<const std::byte> bytes);

  FileWriter* file_;
  DatasetHandle dataset_;
  TypeHandle type_;
  std::vector<hsize_t> dimensions_;
  std::size_t row_size_;
  std::uint64_t rows_ = 0;
  std::vector<std::byte> partial_row_;
  Checksummer digest_;
};

/// An HDF5 file under construction. REQUIRES: a Session for its whole life. Errors throw what the Storage threw, or io.
class FileWriter {
 public:
  /// `name` is for error messages; `storage` must outlive the writer.
  FileWriter(Storage& storage, std::filesystem::path name);

  /// `path` is from the root group; its groups exist. `type` is copied.
  DatasetWriter create_dataset(const std::string& path, hid_t type, std::vector<hsize_t> dimensions);
  /// A group with room for `links` links whose names have about `name_length` bytes.
  void create_group(const std::string& path, std::size_t links, std::size_t name_length);
  void add_attribute(hid_t object, const char* name, hid_t file_type, hid_t memory_type, const void* value);
  /// REQUIRES: all DatasetWriters are gone.
  void close();

  /// Throws if `result` is a failure of the library: the Storage's error if it had one, else io with the library's
  /// words.
  void check(bool succeeded, const char* what) const;

 private:
  [[noreturn]] void fail(const char* what, const std::string& reason) const;

  std::filesystem::path name_;
  Connection connection_;
  PropertiesHandle link_properties_;
};

}  // namespace imgpack::hdf5
