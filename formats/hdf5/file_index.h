// Where everything lies in an imgpack HDF5 file, as libhdf5 says it, with every answer checked against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/columns.h"
#include "imgpack/dataset_info.h"
#include "imgpack/store.h"
#include "mmap/mapped_file.h"

namespace imgpack::hdf5 {

/// A contiguous dataset. `bytes` views the mapping and is as long as its type and dimensions ask for.
struct StoredDataset {
  std::string path;          ///< from the root group
  std::uint64_t offset = 0;  ///< in the file; 0 if it is empty
  std::span<const std::byte> bytes;
  std::uint64_t rows = 0;               ///< elements of the first dimension
  std::uint64_t row_size = 0;           ///< bytes of one of them
  std::optional<std::uint64_t> digest;  ///< XXH3-64 that `bytes` should have; payloads have none
};

struct FileIndex {
  DatasetInfo info;
  StoredDataset payloads;             ///< `encoded` or `images`
  std::optional<RawShape> raw_shape;  ///< of `images`, which has a row a record
  std::map<Column, StoredDataset> columns;
  std::vector<StoredDataset> others;  ///< for other readers' sake, or read already
  /// Bytes of the file that belong to the superblock, to an object's header or to a dataset.
  std::uint64_t accounted_bytes = 0;
};

/// Opens the file with libhdf5, asks, and closes it. Takes a Session. Throws unsupported or damaged.
FileIndex read_file_index(const MappedFile& file);

}  // namespace imgpack::hdf5
