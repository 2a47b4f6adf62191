// Reading: see file_index.h for how things are found; from then on the common reader of columns serves the mapping.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/column_store.h"
#include "formats/hdf5/file_index.h"
#include "formats/hdf5/hdf5_format.h"
#include "formats/hdf5/layout.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack {

namespace {

using hdf5::FileIndex;
using hdf5::StoredDataset;

constexpr std::size_t kDigestPiece = 4u << 20;
constexpr std::uint64_t kReleaseRecords = 1u << 18;

/// What check_container() compares, kept from the opening of the file.
struct ContainerCheck {
  std::vector<StoredDataset> datasets;
  std::uint64_t accounted_bytes = 0;
  std::optional<RawShape> raw_shape;

  void operator()(const MappedFile& data, const ColumnTable& columns, const DatasetInfo&, DamageSink& sink) const {
    const std::string file = data.path().string();
    if (accounted_bytes != data.size() &&
        !sink.report({.file = file,
                      .record = {},
                      .offset = {},
                      .what = fmt::format("its objects take {} bytes of {}: something else is in it, or they overlap",
                                          accounted_bytes, data.size())})) {
      return;
    }
    bool sound = true;
    for (const StoredDataset& dataset : datasets) {
      if (digest_of(data, dataset) == dataset.digest) continue;
      sound = false;
      if (!sink.report({.file = file,
                        .record = {},
                        .offset = dataset.offset,
                        .what = fmt::format("the content of dataset '{}' has been changed", dataset.path)})) {
        return;
      }
    }
    // What a changed index contradicts would only say the same again.
    if (sound) check_columns(columns, file, sink);
  }

 private:
  static std::uint64_t digest_of(const MappedFile& data, const StoredDataset& dataset) {
    Checksummer digest;
    for (std::size_t at = 0; at < dataset.bytes.size(); at += kDigestPiece) {
      const auto piece = dataset.bytes.subspan(at, std::min(kDigestPiece, dataset.bytes.size() - at));
      digest.update(piece);
      data.release(dataset.offset + at, piece.size());
    }
    return digest.value();
  }

  void check_columns(const ColumnTable& columns, const std::string& file, DamageSink& sink) const {
    for (std::uint64_t record = 0; record < columns.records(); ++record) {
      try {
        check_record(columns, record);
        if (record % kReleaseRecords == kReleaseRecords - 1)
          columns.release(record + 1 - kReleaseRecords, kReleaseRecords);
      } catch (const Error& error) {
        if (!sink.report({.file = file, .record = record, .offset = {}, .what = error.message()})) return;
      }
    }
    columns.check(sink);
  }

  /// Throws damaged.
  void check_record(const ColumnTable& columns, std::uint64_t record) const {
    if (!raw_shape) {
      columns.payload_size(record);
      return;
    }
    const RecordMeta meta = columns.meta(record);
    if (meta.codec != Codec::raw_rgb8 || meta.channels != 3 || meta.height != raw_shape->height ||
        meta.width != raw_shape->width) {
      throw Error(ErrorCode::damaged, "its size or codec is not that of the dataset 'images'");
    }
  }
};

/// Payloads fill `encoded` from its first byte to its last, so that their checksums leave none out.
void check_payload_ends(const FileIndex& index, const std::filesystem::path& file) {
  if (index.raw_shape) return;  // their number and size say it all
  const auto offsets = index.columns.find(Column::payload_bounds);
  const bool whole = offsets != index.columns.end() && offsets->second.bytes.size() >= 8 &&
                     load_le<std::uint64_t>(offsets->second.bytes.data()) == 0 &&
                     load_le<std::uint64_t>(offsets->second.bytes.last(8).data()) == index.payloads.bytes.size();
  if (whole) return;
  throw Error(ErrorCode::damaged, "its dataset 'offsets' does not span the dataset 'encoded'", in_file(file));
}

}  // namespace

bool recognise_hdf5(std::span<const std::byte> head, std::uint64_t) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.starts_with(hdf5::kSignature);
}

std::unique_ptr<StoreReader> open_hdf5(const std::filesystem::path& path) {
  MappedFile file = MappedFile::open(path);
  FileIndex index = hdf5::read_file_index(file);
  check_payload_ends(index, path);
  ColumnTable::Layout layout{.records = index.info.records,
                             .fields = index.info.fields,
                             .file = path,
                             .payload_base = index.payloads.offset,
                             .fixed_payload_size = std::nullopt};
  if (index.raw_shape) layout.fixed_payload_size = index.raw_shape->bytes();
  ColumnTable columns = ColumnTable::create(std::move(layout), [&](Column column) -> ColumnView {
    const auto found = index.columns.find(column);
    if (found == index.columns.end()) return {};
    return {.bytes = found->second.bytes, .width = static_cast<std::uint32_t>(found->second.row_size)};
  });
  ContainerCheck check{
      .datasets = std::move(index.others), .accounted_bytes = index.accounted_bytes, .raw_shape = index.raw_shape};
  for (auto& [column, dataset] : index.columns) check.datasets.push_back(std::move(dataset));
  return make_column_store({.format = Format::hdf5,
                            .data = std::move(file),
                            .extra = {},
                            .info = std::move(index.info),
                            .columns = std::move(columns),
                            .check_container = std::move(check)});
}

}  // namespace imgpack
