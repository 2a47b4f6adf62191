#include "formats/tfrecord/index_file.h"

#include <utility>

#include <fmt/format.h>

#include "formats/tfrecord/example.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/scan.h"
#include "imgpack/error.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

TfrecordIndex open_index(MappedFile file) {
  rec::Directory directory = rec::read_directory(file);
  ColumnTable columns = rec::open_columns(file, directory);
  if ((directory.header.required_features & rec::kFeatureExternalData) == 0 || !columns.has_frames())
    throw Error(ErrorCode::damaged, "it is not the index of a TFRecord",
                {.file = file.path().string(), .record = {}, .offset = {}});
  return {std::move(file), std::move(directory), std::move(columns)};
}

/// Whether the last frame is where the index has it, and follows the frames that the index was made of.
bool belongs_to(const TfrecordIndex& index, const MappedFile& data) {
  const std::uint64_t records = index.columns.records();
  if (records == 0) return data.size() == 0;
  const std::uint64_t offset = index.columns.frame_offset(records - 1);
  Frame frame;
  if (offset > data.size() || read_frame_bounds(data.bytes(), offset, frame) != FrameStatus::ok) return false;
  if (frame.size != data.size() - offset) return false;
  ExampleDecoder decoder({});
  if (decoder.decode(frame.data) != ExampleStatus::ok || !decoder.decoded().chain) return false;
  return next_chain(*decoder.decoded().chain, frame.stored_crc) == index.directory.header.external_data_identity;
}

/// Where nameless files can be made: beside the data, unless that is a read-only place.
fs::path find_work_dir(const fs::path& data) {
  const fs::path beside = data.parent_path().empty() ? "." : data.parent_path();
  for (const fs::path& candidate : {beside, fs::path("/var/tmp")}) {
    try {
      File::temporary(candidate);
      return candidate;
    } catch (const Error&) {  // the next one may do
    }
  }
  return "/tmp";
}

}  // namespace

void write_index_file(File& file, const RecordLog& log, const DatasetInfo& info, const DataIdentity& identity,
                      const fs::path& work_dir) {
  rec::IndexOptions options;
  options.external_data_size = identity.size;
  options.external_data_identity = identity.chain;
  options.columns.segments_offset = true;
  options.columns.frames = true;
  options.columns.work_dir = work_dir;
  rec::write_index(file, log, info, options);
}

std::optional<TfrecordIndex> open_index_file(const fs::path& path, const MappedFile& data, IndexAge age,
                                             std::string& problem) {
  std::error_code error;
  const fs::file_time_type index_time = fs::last_write_time(path, error);
  if (error) {
    problem = "the index is missing";
    return std::nullopt;
  }
  if (age == IndexAge::newer_than_data && index_time < fs::last_write_time(data.path())) {
    problem = "the index is older than the data";
    return std::nullopt;
  }
  try {
    TfrecordIndex index = open_index(MappedFile::open(path, Access::random));
    if (index.directory.header.external_data_size != data.size()) {
      problem = fmt::format("the index is of a file of {} bytes, not {}", index.directory.header.external_data_size,
                            data.size());
    } else if (!belongs_to(index, data)) {
      problem = "the index is of another file of the same size, or its last record is damaged";
    } else {
      return index;
    }
  } catch (const Error& reason) {
    if (reason.code() == ErrorCode::out_of_memory) throw;
    problem = fmt::format("the index cannot be used: {}", reason.message());
  }
  return std::nullopt;
}

TfrecordIndex rebuild_index(const MappedFile& data) {
  const fs::path work_dir = find_work_dir(data.path());
  const ScannedRecords scanned = scan_tfrecord(data, work_dir);
  File file = File::temporary(work_dir);
  write_index_file(file, *scanned.log, scanned.info, {.size = data.size(), .chain = scanned.chain}, work_dir);
  return open_index(MappedFile::map(file, Access::random));
}

}  // namespace imgpack
