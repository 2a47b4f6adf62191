#include <algorithm>
#include <utility>

#include "formats/column_store.h"
#include "formats/rec/rec_file.h"
#include "formats/rec/rec_format.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kReleaseRecords = 1u << 18;

/// Walks the data region in record order: every record where the one before says, zeros between them and behind the
/// last.
class DataRegionCheck {
 public:
  DataRegionCheck(const MappedFile& file, const rec::Header& header, const ColumnTable& columns, DamageSink& sink)
      : file_(file), header_(header), columns_(columns), sink_(sink), behind_(file) {}

  void run() {
    std::uint64_t end = header_.data_offset;
    const std::uint64_t limit = header_.data_offset + header_.data_size;
    for (std::uint64_t record = 0; record < columns_.records(); ++record) {
      const std::uint64_t expected = (end + header_.alignment - 1) / header_.alignment * header_.alignment;
      const std::uint64_t offset = columns_.payload_offset(record);
      const std::uint64_t size = columns_.payload_size(record);
      if (offset != expected || size > limit || offset > limit - size) {
        report(record, offset, "its payload is not where the record before ends");
        return;
      }
      if (!zeros(end, offset, record)) return;
      end = offset + size;
      if (const std::uint64_t segments = columns_.segments_size(record); segments != 0) {
        const std::uint64_t begin = columns_.segments_offset(record);
        if (segments > limit || begin > limit - segments) {
          report(record, begin, "its segment index lies outside the data");
          return;
        }
        if (!zeros(end, begin, record)) return;
        end = begin + segments;
      }
      behind_.advance(end);
      if ((record + 1) % kReleaseRecords == 0) columns_.release(record + 1 - kReleaseRecords, kReleaseRecords);
    }
    if (end > limit || limit - end < rec::kDataTail) {
      report(std::nullopt, limit, "the data region is too small");
      return;
    }
    zeros(end, limit, std::nullopt);
  }

 private:
  bool report(std::optional<std::uint64_t> record, std::uint64_t offset, std::string what) {
    return sink_.report({.file = file_.path().string(), .record = record, .offset = offset, .what = std::move(what)});
  }

  bool zeros(std::uint64_t begin, std::uint64_t end, std::optional<std::uint64_t> record) {
    for (std::uint64_t at = begin; at < end; ++at) {
      if (file_.bytes()[static_cast<std::size_t>(at)] == std::byte{0}) continue;
      return report(record, at, "a padding byte is not zero");
    }
    return true;
  }

  const MappedFile& file_;
  const rec::Header& header_;
  const ColumnTable& columns_;
  DamageSink& sink_;
  ReleaseBehind behind_;
};

}  // namespace

bool recognise_rec(std::span<const std::byte> head, std::uint64_t) {
  return rec::has_magic(head);
}

std::unique_ptr<StoreReader> open_rec(const std::filesystem::path& path) {
  ColumnStoreParts parts;
  parts.format = Format::rec;
  parts.data = MappedFile::open(path);
  rec::Directory directory = rec::read_directory(parts.data);
  if ((directory.header.required_features & rec::kFeatureExternalData) != 0) {
    throw Error(ErrorCode::unsupported, "this is the index of another file; open that file instead", in_file(path));
  }
  parts.columns = rec::open_columns(parts.data, directory);
  parts.info = directory.info;
  parts.check_container = [directory = std::move(directory)](const MappedFile& data, const ColumnTable& columns,
                                                             const DatasetInfo&, DamageSink& sink) {
    rec::check_sections(data, directory, sink);
    DataRegionCheck(data, directory.header, columns, sink).run();
    columns.check(sink);
  };
  return make_column_store(std::move(parts));
}

}  // namespace imgpack
