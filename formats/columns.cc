#include "formats/columns.h"

#include <algorithm>

#include <fmt/format.h>
#include <xxhash.h>

#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/mapped_file.h"

namespace imgpack {

namespace {

std::uint64_t at64(const ColumnView& view, std::uint64_t index) noexcept {
  return load_le<std::uint64_t>(view.bytes.data() + index * 8);
}

std::uint32_t at32(const ColumnView& view, std::uint64_t index) noexcept {
  return load_le<std::uint32_t>(view.bytes.data() + index * 4);
}

std::uint8_t at8(const ColumnView& view, std::uint64_t index) noexcept {
  return static_cast<std::uint8_t>(view.bytes[index]);
}

[[noreturn]] void throw_damaged(const std::filesystem::path& file, std::optional<std::uint64_t> record,
                                std::string message) {
  throw Error(ErrorCode::damaged, std::move(message), {.file = file.string(), .record = record, .offset = {}});
}

void release_elements(const ColumnView& view, std::uint64_t begin, std::uint64_t end) noexcept {
  if (!view.present() || view.bytes.size() < end * view.width) return;
  release_pages(view.bytes.subspan(static_cast<std::size_t>(begin * view.width),
                                   static_cast<std::size_t>((end - begin) * view.width)));
}

/// Takes columns out of a directory and checks their lengths.
class Collector {
 public:
  Collector(const ColumnTable::Layout& layout, const std::function<ColumnView(Column)>& find)
      : layout_(layout), find_(find) {}

  ColumnView optional(Column column, std::uint64_t count, std::uint32_t width) const {
    const ColumnView view = find_(column);
    if (!view.present()) return view;
    if (view.width != width || view.bytes.size() / width != count || view.bytes.size() % width != 0) {
      throw_damaged(layout_.file, std::nullopt,
                    fmt::format("index column {} has {} bytes, not the {} that {} elements of {} bytes need",
                                static_cast<std::uint32_t>(column), view.bytes.size(), count * width, count, width));
    }
    return view;
  }

  ColumnView required(Column column, std::uint64_t count, std::uint32_t width) const {
    const ColumnView view = optional(column, count, width);
    if (!view.present()) missing(column);
    return view;
  }

  ColumnView blob(Column column) const {
    const ColumnView view = find_(column);
    if (!view.present() || view.width != 1) missing(column);
    return view;
  }

  [[noreturn]] void missing(Column column) const {
    throw_damaged(layout_.file, std::nullopt,
                  fmt::format("index column {} is missing", static_cast<std::uint32_t>(column)));
  }

 private:
  const ColumnTable::Layout& layout_;
  const std::function<ColumnView(Column)>& find_;
};

}  // namespace

KeyHash hash_key(std::string_view key) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {.high = hash.high64, .low = hash.low64};
}

ColumnTable ColumnTable::create(Layout layout, const std::function<ColumnView(Column)>& find_column) {
  ColumnTable table;
  table.layout_ = std::move(layout);
  const std::uint64_t n = table.layout_.records;
  if (n > (std::uint64_t{1} << 56)) throw_damaged(table.layout_.file, std::nullopt, "the record count is absurd");
  const Collector collect(table.layout_, find_column);
  if (!table.layout_.fixed_payload_size) {
    table.payload_bounds_ = collect.optional(Column::payload_bounds, n + 1, 8);
    if (!table.payload_bounds_.present()) {
      table.payload_offset_ = collect.required(Column::payload_offset, n, 8);
      table.payload_size_ = collect.required(Column::payload_size, n, 8);
    }
  }
  table.segment_bounds_ = collect.optional(Column::segment_bounds, n + 1, 8);
  if (table.segment_bounds_.present()) {
    table.segment_bytes_ = collect.blob(Column::segment_bytes);
  } else {
    table.segments_size_ = collect.optional(Column::segments_size, n, 8);
    table.segments_offset_ = collect.optional(Column::segments_offset, n, 8);
  }
  table.label_ = collect.required(Column::label, n, 8);
  table.width_ = collect.required(Column::width, n, 4);
  table.height_ = collect.required(Column::height, n, 4);
  table.channels_ = collect.required(Column::channels, n, 1);
  table.codec_ = collect.required(Column::codec, n, 1);
  table.checksum_ = collect.required(Column::checksum, n, 8);
  table.key_bounds_ = collect.required(Column::key_bounds, n + 1, 8);
  table.key_bytes_ = collect.blob(Column::key_bytes);
  table.key_order_ = collect.required(Column::key_order, n, key_order_width(n));
  table.frame_offset_ = collect.optional(Column::frame_offset, n, 8);
  if (table.frame_offset_.present()) table.frame_size_ = collect.required(Column::frame_size, n, 8);
  const std::vector<FieldSpec>& fields = table.layout_.fields;
  if (fields.size() > kMaxFields) throw_damaged(table.layout_.file, std::nullopt, "there are too many fields");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const bool blob = fields[i].type == FieldType::bytes;
    const std::uint64_t size = fields[i].value_size();
    if (size > kMaxFieldBytes) throw_damaged(table.layout_.file, std::nullopt, "a field's shape is absurd");
    table.field_values_.push_back(blob ? collect.blob(field_values_column(i))
                                       : collect.required(field_values_column(i), n, static_cast<std::uint32_t>(size)));
    table.field_bounds_.push_back(blob ? collect.required(field_bounds_column(i), n + 1, 8) : ColumnView{});
  }
  return table;
}

std::span<const std::byte> ColumnTable::bounded(const ColumnView& bounds, const ColumnView& values,
                                                std::uint64_t record, std::string_view what) const {
  const std::uint64_t begin = at64(bounds, record);
  const std::uint64_t end = at64(bounds, record + 1);
  if (begin > end || end > values.bytes.size()) {
    throw_damaged(layout_.file, record, fmt::format("the bounds of its {} are damaged", what));
  }
  return values.bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

RecordMeta ColumnTable::meta(std::uint64_t record) const {
  RecordMeta meta;
  meta.label = static_cast<std::int64_t>(at64(label_, record));
  meta.width = at32(width_, record);
  meta.height = at32(height_, record);
  meta.channels = at8(channels_, record);
  const std::optional<Codec> codec = codec_from_number(at8(codec_, record));
  if (!codec) throw_damaged(layout_.file, record, fmt::format("its codec {} is not known", at8(codec_, record)));
  meta.codec = *codec;
  meta.payload_size = payload_size(record);
  meta.segments_size = segments_size(record);
  meta.checksum = at64(checksum_, record);
  return meta;
}

void ColumnTable::prefetch_entry(std::uint64_t record) const noexcept {
  for (const ColumnView* view : {&payload_offset_, &payload_size_, &payload_bounds_, &segments_offset_, &segments_size_,
                                 &segment_bounds_, &label_, &width_, &height_, &channels_, &codec_, &checksum_}) {
    if (view->present()) __builtin_prefetch(view->bytes.data() + record * view->width);
  }
}

std::uint64_t ColumnTable::payload_offset(std::uint64_t record) const noexcept {
  if (layout_.fixed_payload_size) return layout_.payload_base + record * *layout_.fixed_payload_size;
  return payload_offset_.present() ? at64(payload_offset_, record)
                                   : layout_.payload_base + at64(payload_bounds_, record);
}

std::uint64_t ColumnTable::payload_size(std::uint64_t record) const {
  if (layout_.fixed_payload_size) return *layout_.fixed_payload_size;
  if (payload_size_.present()) return at64(payload_size_, record);
  const std::uint64_t begin = at64(payload_bounds_, record);
  const std::uint64_t end = at64(payload_bounds_, record + 1);
  if (begin > end) throw_damaged(layout_.file, record, "the bounds of its payload are damaged");
  return end - begin;
}

std::uint64_t ColumnTable::segments_size(std::uint64_t record) const {
  if (segment_bounds_.present()) return segments(record).size();
  return segments_size_.present() ? at64(segments_size_, record) : 0;
}

std::uint64_t ColumnTable::segments_offset(std::uint64_t record) const {
  if (segments_offset_.present()) return at64(segments_offset_, record);
  // A wrapped sum is as wrong as any other offset beyond the file: the store checks the result.
  const std::uint64_t end = payload_offset(record) + payload_size(record);
  return (end + kSegmentsAlignment - 1) / kSegmentsAlignment * kSegmentsAlignment;
}

std::span<const std::byte> ColumnTable::segments(std::uint64_t record) const {
  if (!segment_bounds_.present()) return {};
  return bounded(segment_bounds_, segment_bytes_, record, "segment index");
}

std::string_view ColumnTable::key(std::uint64_t record) const {
  const std::span<const std::byte> bytes = bounded(key_bounds_, key_bytes_, record, "key");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> ColumnTable::field(std::uint64_t record, std::size_t field) const {
  const ColumnView& values = field_values_[field];
  if (field_bounds_[field].present()) return bounded(field_bounds_[field], values, record, "field");
  return values.bytes.subspan(static_cast<std::size_t>(record * values.width), values.width);
}

std::uint64_t ColumnTable::frame_offset(std::uint64_t record) const noexcept {
  return at64(frame_offset_, record);
}
std::uint64_t ColumnTable::frame_size(std::uint64_t record) const noexcept {
  return at64(frame_size_, record);
}

std::uint64_t ColumnTable::key_order(std::uint64_t position) const {
  const std::uint64_t record = key_order_.width == 4 ? at32(key_order_, position) : at64(key_order_, position);
  if (record >= records())
    throw_damaged(layout_.file, std::nullopt, "the key lookup table names a record that is not there");
  return record;
}

std::optional<std::uint64_t> ColumnTable::find(std::string_view key) const {
  const KeyHash wanted = hash_key(key);
  std::uint64_t low = 0;
  std::uint64_t high = records();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (hash_key(this->key(key_order(middle))) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < records(); ++low) {
    const std::uint64_t record = key_order(low);
    const std::string_view candidate = this->key(record);
    if (candidate == key) return record;
    if (hash_key(candidate) != wanted) break;
  }
  return std::nullopt;
}

void ColumnTable::release_key_order(std::uint64_t first, std::uint64_t count) const noexcept {
  if (first < records()) release_elements(key_order_, first, first + std::min(count, records() - first));
}

void ColumnTable::release(std::uint64_t first, std::uint64_t count) const noexcept {
  if (first >= records()) return;
  const std::uint64_t end = first + std::min(count, records() - first);
  const auto release = [&](const ColumnView& view) { release_elements(view, first, end); };
  const auto release_bounded = [&](const ColumnView& bounds, const ColumnView& values) {
    if (!bounds.present()) return;
    const std::uint64_t from = std::min<std::uint64_t>(at64(bounds, first), values.bytes.size());
    const std::uint64_t to = std::min<std::uint64_t>(at64(bounds, end), values.bytes.size());
    if (from < to)
      release_pages(values.bytes.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
  };
  release_bounded(key_bounds_, key_bytes_);
  release_bounded(segment_bounds_, segment_bytes_);
  for (std::size_t i = 0; i < field_values_.size(); ++i) {
    if (field_bounds_[i].present()) {
      release_bounded(field_bounds_[i], field_values_[i]);
      release(field_bounds_[i]);
    } else {
      release(field_values_[i]);
    }
  }
  for (const ColumnView* view :
       {&payload_offset_, &payload_size_, &payload_bounds_, &segments_offset_, &segments_size_, &segment_bounds_,
        &label_, &width_, &height_, &channels_, &codec_, &checksum_, &key_bounds_, &frame_offset_, &frame_size_}) {
    release(*view);
  }
}

}  // namespace imgpack
