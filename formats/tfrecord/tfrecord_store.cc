// Reading: the common column store over OUT, with the index from OUT.imgpack or made by a scan.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "formats/column_store.h"
#include "formats/tfrecord/check.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/index_file.h"
#include "formats/tfrecord/side_files.h"
#include "formats/tfrecord/tfrecord_format.h"
#include "imgpack/error.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

/// Keeps the index's mapping for as long as the store has columns in it.
struct IndexState {
  MappedFile file;
  rec::Directory directory;
  std::string problem;  ///< why the index beside the data was not used; empty if it was
};

void check(const IndexState& index, const MappedFile& data, const ColumnTable& columns, const DatasetInfo& info,
           DamageSink& sink) {
  const bool written_index = index.problem.empty();
  if (written_index) {
    rec::check_sections(index.file, index.directory, sink);
    columns.check(sink);
  } else if (!sink.report(
                 {side_file(data.path(), kIndexSuffix).string(), std::nullopt, std::nullopt,
                  fmt::format("{}; the records were found by reading the whole file (imgpack convert writes the "
                              "dataset anew with its index)",
                              index.problem)})) {
    return;
  }
  if (!check_frames({.data = data, .columns = columns, .info = info, .written_index = written_index}, sink)) return;
  check_idx_file(side_file(data.path(), kIdxSuffix), columns, sink);
}

}  // namespace

bool recognise_tfrecord(std::span<const std::byte> head, std::uint64_t size) {
  return size == 0 || is_frame_header(head);
}

std::unique_ptr<StoreReader> open_tfrecord(const fs::path& path) {
  ColumnStoreParts parts;
  parts.format = Format::tfrecord;
  parts.data = MappedFile::open(path);
  std::string problem;
  std::optional<TfrecordIndex> index =
      open_index_file(side_file(path, kIndexSuffix), parts.data, IndexAge::newer_than_data, problem);
  if (!index && parts.data.size() == 0)
    throw Error(ErrorCode::damaged,
                fmt::format("the file is empty; a TFRecord without records has an index beside it that says so, but {}",
                            problem),
                {.file = path.string(), .record = std::nullopt, .offset = 0});
  if (!index) {
    try {
      index = rebuild_index(parts.data);
    } catch (const Error& error) {
      // One damaged frame must not take the others with it: an index that is merely old still knows where they are.
      if (error.code() != ErrorCode::damaged) throw;
      std::string why_not;
      index = open_index_file(side_file(path, kIndexSuffix), parts.data, IndexAge::any, why_not);
      if (!index) throw;
      problem.clear();
    }
  }

  parts.info = index->directory.info;
  parts.columns = std::move(index->columns);
  const auto state = std::make_shared<const IndexState>(
      IndexState{std::move(index->file), std::move(index->directory), std::move(problem)});
  parts.check_container = [state](const MappedFile& data, const ColumnTable& columns, const DatasetInfo& info,
                                  DamageSink& sink) { check(*state, data, columns, info, sink); };
  return make_column_store(std::move(parts));
}

}  // namespace imgpack
