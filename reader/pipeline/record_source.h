// Where the bytes of records come from: the mapping, or unbuffered reads into memory of our own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "imgpack/sampler.h"
#include "mmap/unbuffered_file.h"

namespace imgpack {

/// A record's bytes, and what keeps them.
struct FetchedRecord {
  RecordBytes bytes;
  std::shared_ptr<const AlignedBuffer> memory;
};

/// Reads records past the page cache. Thread-safe.
class UnbufferedSource {
 public:
  explicit UnbufferedSource(const std::vector<DatasetShare>& shares) : shares_(shares) {}

  /// The bytes of all `samples`, in their order. Records that lie near each other are read together. A record that
  /// can't be read, or whose file is no longer found under its name, comes without bytes: the mapping has them, or
  /// tells what is wrong. Throws std::bad_alloc.
  std::vector<FetchedRecord> fetch(std::span<const Sample> samples);

 private:
  struct Wanted;
  using FileKey = std::pair<std::uint64_t, std::uint64_t>;  ///< device and inode
  const UnbufferedFile& file(const Wanted& item);
  void read(std::span<const Wanted> run, std::vector<FetchedRecord>& out);

  const std::vector<DatasetShare>& shares_;
  std::mutex mutex_;
  std::map<FileKey, UnbufferedFile> files_;
};

}  // namespace imgpack
