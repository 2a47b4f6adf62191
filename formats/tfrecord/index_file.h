// The index beside a TFRecord (OUT.imgpack): a rec file without data whose columns point into OUT.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "formats/columns.h"
#include "formats/rec/rec_file.h"
#include "formats/record_log.h"
#include "imgpack/dataset_info.h"
#include "mmap/file.h"
#include "mmap/mapped_file.h"

namespace imgpack {

/// What an index remembers of its data file, to be recognised as belonging to it without reading it.
struct DataIdentity {
  std::uint64_t size = 0;   ///< bytes
  std::uint64_t chain = 0;  ///< value behind the last record; stands for all frames
};

/// Fills `file`, which is empty. Temporary files go to `work_dir`. Throws refused if two records have the same key.
void write_index_file(File& file, const RecordLog& log, const DatasetInfo& info, const DataIdentity& identity,
                      const std::filesystem::path& work_dir);

struct TfrecordIndex {
  MappedFile file;
  rec::Directory directory;
  ColumnTable columns;  ///< views into `file`
};

enum class IndexAge : std::uint8_t { newer_than_data, any };

/// The index of `data` in the file `path`; or nothing, with the reason in `problem`, if there is none, if it is
/// damaged, or if it belongs to other data. Takes time that does not depend on the number of records.
std::optional<TfrecordIndex> open_index_file(const std::filesystem::path& path, const MappedFile& data, IndexAge age,
                                             std::string& problem);

/// Makes an index in a nameless file by reading all of `data`. Throws like scan_tfrecord().
TfrecordIndex rebuild_index(const MappedFile& data);

}  // namespace imgpack
