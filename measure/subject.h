// Something whose reading is measured: a packed dataset, or a folder of image files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/image_result.h"
#include "imgpack/error.h"
#include "imgpack/record.h"
#include "measure/batch_stream.h"
#include "measure/measurement.h"
#include "measure/storage_kind.h"
#include "mmap/byte_buffer.h"

namespace imgpack::measure {

/// A subject that is open. Const functions are thread-safe, with a buffer for each thread.
class OpenSubject {
 public:
  virtual ~OpenSubject() = default;
  OpenSubject(const OpenSubject&) = delete;
  OpenSubject& operator=(const OpenSubject&) = delete;

  virtual std::uint64_t size() const noexcept = 0;
  /// The bytes of image `index`, below size(); valid until the buffer is used again. Throws damaged, not_found or io.
  virtual RecordBytes read(std::uint64_t index, ByteBuffer& buffer) const = 0;
  /// What is known of it besides; `bytes` are what read() gave. Throws damaged.
  virtual RecordMeta meta(std::uint64_t index, const RecordBytes& bytes) const = 0;
  /// Images [first, first + count) will be read soon, in their order. Advice; may do nothing.
  virtual void expect(std::uint64_t first, std::uint64_t count) const = 0;
  /// For what is wrong with image `index`.
  virtual Error error(std::uint64_t index, const ImageResult& result) const = 0;

 protected:
  OpenSubject() = default;
};

/// Immutable and thread-safe. Keeps names and sizes, but nothing open or mapped: so files can be evicted between runs.
class Subject {
 public:
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  /// As the caller named it.
  const std::string& name() const noexcept { return name_; }
  /// "rec", "lmdb", ..., or "folder".
  const std::string& kind() const noexcept { return kind_; }
  /// Images.
  std::uint64_t size() const noexcept { return size_; }
  /// All that is read from disk.
  const std::vector<std::filesystem::path>& files() const noexcept { return files_; }
  const Storage& storage() const noexcept { return storage_; }
  bool is_folder() const noexcept { return kind_ == "folder"; }
  /// What makes its batches, for tables: "imgpack (rec)".
  virtual std::string dataloader() const = 0;

  /// Throws what open_subject() throws.
  virtual std::unique_ptr<OpenSubject> open() const = 0;
  /// Does what a program does before it has the bytes of the first image, names of files included. Returns how many
  /// bytes those are.
  virtual std::uint64_t read_first() const = 0;
  /// Batches in random order, with nothing begun yet. Throws what Loader throws.
  virtual std::unique_ptr<BatchStream> batches(const BatchStreamOptions& options) const = 0;

 protected:
  Subject() = default;

  std::string name_;
  std::string kind_;
  std::uint64_t size_ = 0;
  std::vector<std::filesystem::path> files_;
  Storage storage_;
};

/// `name` is a folder of images, with class folders or without, or what open_store() opens. With a split, only its
/// images: of a folder those in the folder of that name. Throws not_found, damaged, unsupported, io, or
/// invalid_argument for what is neither.
std::unique_ptr<Subject> open_subject(const std::string& name, const std::string& split = {});

// One in a file each.
std::unique_ptr<Subject> open_packed_subject(const std::string& name, const std::string& split);
std::unique_ptr<Subject> open_folder_subject(const std::string& name, const std::string& split);

}  // namespace imgpack::measure
