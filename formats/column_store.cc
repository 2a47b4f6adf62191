#include "formats/column_store.h"

#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack {

namespace {

class ColumnStore final : public StoreReader {
 public:
  explicit ColumnStore(ColumnStoreParts parts) : parts_(std::move(parts)) {}

  Format format() const noexcept override { return parts_.format; }
  const std::filesystem::path& path() const noexcept override { return parts_.data.path(); }
  std::uint64_t size() const noexcept override { return parts_.columns.records(); }
  const DatasetInfo& info() const noexcept override { return parts_.info; }

  RecordMeta meta(std::uint64_t record) const override {
    require(record);
    return parts_.columns.meta(record);
  }

  std::string_view key(std::uint64_t record) const override {
    require(record);
    return parts_.columns.key(record);
  }

  RecordBytes bytes(std::uint64_t record) const override {
    require(record);
    const ColumnTable& columns = parts_.columns;
    RecordBytes bytes;
    bytes.payload = slice(record, columns.payload_offset(record), columns.payload_size(record), "payload");
    if (!columns.segments_inline()) {
      bytes.segments = columns.segments(record);
    } else if (const std::uint64_t size = columns.segments_size(record); size != 0) {
      bytes.segments = slice(record, columns.segments_offset(record), size, "segment index");
    }
    return bytes;
  }

  std::span<const std::byte> field(std::uint64_t record, std::size_t field) const override {
    require(record);
    if (field >= parts_.info.fields.size()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("there is no field {}", field), place_of(record));
    }
    return parts_.columns.field(record, field);
  }

  PayloadPlace place(std::uint64_t record) const override {
    const std::span<const std::byte> payload = bytes(record).payload;
    return {.file = &parts_.data.path(),
            .record = record,
            .offset = static_cast<std::uint64_t>(payload.data() - parts_.data.bytes().data()),
            .size = payload.size(),
            .device = parts_.data.identity().device,
            .inode = parts_.data.identity().inode};
  }

  std::vector<std::span<const std::byte>> mappings() const override {
    if (parts_.data.size() == 0) return {};
    return {parts_.data.bytes()};
  }

  std::optional<std::uint64_t> find(std::string_view key) const override { return parts_.columns.find(key); }

  void prefetch_entry(std::uint64_t record) const noexcept override {
    if (record < size()) parts_.columns.prefetch_entry(record);
  }

  void prefetch(std::uint64_t first, std::uint64_t count) const override {
    const auto [offset, size] = extent(first, count);
    parts_.data.prefetch(offset, size);
  }

  void release(std::uint64_t first, std::uint64_t count) const override {
    const auto [offset, size] = extent(first, count);
    parts_.data.release(offset, size);
    parts_.columns.release(first, count);
  }

  void check_container(DamageSink& sink) const override {
    parts_.check_container(parts_.data, parts_.columns, parts_.info, sink);
  }

 private:
  ErrorPlace place_of(std::uint64_t record) const {
    return {.file = path().string(), .record = record, .offset = std::nullopt};
  }

  void require(std::uint64_t record) const {
    if (record < size()) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("there are only {} records", size()), place_of(record));
  }

  std::span<const std::byte> slice(std::uint64_t record, std::uint64_t offset, std::uint64_t size,
                                   std::string_view what) const {
    const std::uint64_t file_size = parts_.data.size();
    if (offset > file_size || size > file_size - offset) {
      throw Error(ErrorCode::damaged, fmt::format("its {} of {} bytes lies outside the file", what, size),
                  {.file = path().string(), .record = record, .offset = offset});
    }
    return parts_.data.bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  /// From the first record's payload to the end of the last one's; records lie in order. Nonsense on damage, which the
  /// mapping clips, or nothing: reading the record will tell.
  std::pair<std::uint64_t, std::uint64_t> extent(std::uint64_t first, std::uint64_t count) const {
    if (first >= size() || count == 0) return {0, 0};
    const std::uint64_t last = first + std::min(count, size() - first) - 1;
    try {
      const std::uint64_t begin = parts_.columns.payload_offset(first);
      const std::uint64_t end = parts_.columns.payload_offset(last) + parts_.columns.payload_size(last);
      if (begin <= end) return {begin, end - begin};
    } catch (const Error&) {
    }
    return {0, 0};
  }

  ColumnStoreParts parts_;
};

}  // namespace

std::unique_ptr<StoreReader> make_column_store(ColumnStoreParts parts) {
  return std::make_unique<ColumnStore>(std::move(parts));
}

}  // namespace imgpack
