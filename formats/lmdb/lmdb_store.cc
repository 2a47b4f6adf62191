#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "formats/lmdb/container.h"
#include "formats/lmdb/container_check.h"
#include "formats/lmdb/lmdb_format.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/mapped_file.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kMargin = 64u << 10;

class LmdbStore final : public StoreReader {
 public:
  explicit LmdbStore(const std::filesystem::path& path)
      : file_(MappedFile::open(path)), container_(lmdb::Container::open(file_.bytes(), file_.path())) {}

  Format format() const noexcept override { return Format::lmdb; }
  const std::filesystem::path& path() const noexcept override { return file_.path(); }
  std::uint64_t size() const noexcept override { return container_.records(); }
  const DatasetInfo& info() const noexcept override { return container_.info(); }

  RecordMeta meta(std::uint64_t record) const override {
    return of_record(record, [&] { return container_.row(record).meta; });
  }

  std::string_view key(std::uint64_t record) const override {
    return of_record(record, [&] { return container_.key(record); });
  }

  RecordBytes bytes(std::uint64_t record) const override {
    return of_record(record, [&] {
      return RecordBytes{.payload = container_.payload(record).bytes, .segments = container_.segments(record)};
    });
  }

  std::span<const std::byte> field(std::uint64_t record, std::size_t field) const override {
    if (field >= info().fields.size()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("there is no field {}", field), place_of(record));
    }
    return of_record(record, [&] { return lmdb::row_field(container_.row(record), info().fields, field); });
  }

  PayloadPlace place(std::uint64_t record) const override {
    return of_record(record, [&] {
      const lmdb::Value payload = container_.payload(record);
      return PayloadPlace{.file = &file_.path(),
                          .record = record,
                          .offset = payload.offset,
                          .size = payload.bytes.size(),
                          .device = file_.identity().device,
                          .inode = file_.identity().inode};
    });
  }

  std::vector<std::span<const std::byte>> mappings() const override { return {file_.bytes()}; }

  std::optional<std::uint64_t> find(std::string_view key) const override { return container_.find(key); }

  void prefetch(std::uint64_t first, std::uint64_t count) const override {
    advise(
        first, count, [this](std::uint64_t record) { return payload_range(record); },
        [this](const Range& range) { file_.prefetch(range.begin, range.end - range.begin); });
  }

  void release(std::uint64_t first, std::uint64_t count) const override {
    // The kernel maps pages around those that are touched, too: without a margin they would stay.
    const auto give_back = [this](const Range& range) {
      const std::uint64_t begin = range.begin - std::min(range.begin, kMargin);
      file_.release(begin, range.end + kMargin - begin);
    };
    advise(
        first, count, [this](std::uint64_t record) { return payload_range(record); }, give_back);
    advise(
        first, count, [this](std::uint64_t record) { return point(container_.row_offset(record)); }, give_back);
    advise(
        first, count, [this](std::uint64_t record) { return point(container_.key_offset(record)); }, give_back);
  }

  void check_container(DamageSink& sink) const override {
    lmdb::check_container(
        container_, [this] { file_.release(0, file_.size()); }, sink);
  }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  ErrorPlace place_of(std::uint64_t record) const {
    return {.file = path().string(), .record = record, .offset = std::nullopt};
  }

  /// Runs `read`, completing what it throws with the record.
  template <typename Read>
  std::invoke_result_t<Read> of_record(std::uint64_t record, Read&& read) const {
    if (record >= size()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("there are only {} records", size()), place_of(record));
    }
    try {
      return read();
    } catch (const Error& error) {
      ErrorPlace place = error.place();
      place.record = record;
      throw Error(error.code(), error.message(), std::move(place));
    }
  }

  Range payload_range(std::uint64_t record) const {
    const lmdb::Value payload = container_.payload(record);
    return {.begin = payload.offset, .end = payload.offset + payload.bytes.size()};
  }
  static Range point(std::uint64_t offset) { return {.begin = offset, .end = offset + 1}; }

  /// Records lie in the file in their order but for single pages that were used again, so the first and the last one of
  /// a range tell where it is. What cannot be read gets no advice.
  template <typename RangeOf, typename Act>
  void advise(std::uint64_t first, std::uint64_t count, RangeOf&& range_of, Act&& act) const {
    if (first >= size() || count == 0) return;
    try {
      const Range begin = range_of(first);
      const Range end = range_of(first + std::min(count, size() - first) - 1);
      act(Range{.begin = std::min(begin.begin, end.begin), .end = std::max(begin.end, end.end)});
    } catch (const Error&) {
      // Reading the record will tell.
    }
  }

  MappedFile file_;
  lmdb::Container container_;
};

}  // namespace

bool recognise_lmdb(std::span<const std::byte> head, std::uint64_t) {
  // Only what every LMDB file has, so that files of other programs and damaged ones get a clear answer from
  // open_lmdb().
  constexpr std::size_t kMagicOffset = lmdb::kPageHeaderSize;
  return head.size() >= kMagicOffset + sizeof lmdb::kMagic &&
         load_le<std::uint32_t>(head.data() + kMagicOffset) == lmdb::kMagic;
}

std::unique_ptr<StoreReader> open_lmdb(const std::filesystem::path& path) {
  return std::make_unique<LmdbStore>(path);
}

}  // namespace imgpack
