// Reads a TFRecord from its first frame to its last and makes of it what a writer's log would have been.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/record_log.h"
#include "formats/tfrecord/example.h"
#include "imgpack/dataset_info.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/mapped_file.h"

namespace imgpack {

/// The key of a record that has none of its own: its number, in 8 digits or more.
std::string numbered_key(std::uint64_t record);

/// The error that an Example's status stands for. REQUIRES: status is not ok.
Error example_error(ExampleStatus status, const std::filesystem::path& file, std::uint64_t record,
                    std::uint64_t frame_offset);

struct ScannedRecords {
  std::unique_ptr<File> log_file;  ///< nameless; the log refers to it
  std::unique_ptr<RecordLog> log;  ///< flushed
  DatasetInfo info;
  std::uint64_t chain = 0;  ///< behind the last record
};

/// Memory does not grow with the number of records; the log goes to a nameless file in `work_dir`. Throws damaged or
/// unsupported, naming record and offset, at the first frame that cannot be taken; `data` is read sequentially, all
/// CRCs are compared.
ScannedRecords scan_tfrecord(const MappedFile& data, const std::filesystem::path& work_dir);

}  // namespace imgpack
