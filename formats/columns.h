// The index of a packed dataset as columns: one array a property, little-endian, in file order.
//
// rec keeps them as sections, HDF5 as datasets, TFRecord in the rec index file beside it. This header has the common
// part: what columns there are, reading them from a mapping, and writing them in one pass over the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/record_log.h"
#include "imgpack/dataset_info.h"
#include "imgpack/store.h"

namespace imgpack {

/// The numbers are section types of the rec format.
enum class Column : std::uint32_t {
  payload_offset = 1,  ///< u64[N], byte offset in the data file
  payload_size = 2,    ///< u64[N]
  segments_offset =
      3,              ///< u64[N]; absent: segments begin at the first multiple of kSegmentsAlignment behind the payload
  segments_size = 4,  ///< u64[N]; absent: no record has segments
  label = 5,          ///< i64[N]
  width = 6,          ///< u32[N]
  height = 7,         ///< u32[N]
  channels = 8,       ///< u8[N]
  codec = 9,          ///< u8[N]
  checksum = 10,      ///< u64[N]
  key_bounds = 11,    ///< u64[N + 1], into key_bytes
  key_bytes = 12,     ///< u8[...]
  key_order = 13,     ///< u32[N] (u64 from 2^32 records): record numbers sorted by (XXH3-128 of key)
  frame_offset = 14,  ///< u64[N]; TFRecord index files
  frame_size = 15,    ///< u64[N]
  payload_bounds = 16,  ///< u64[N + 1], relative to where payloads begin; instead of payload_offset and payload_size
  segment_bounds = 17,  ///< u64[N + 1], into segment_bytes; instead of segments_offset and segments_size
  segment_bytes = 18,   ///< u8[...]
  field_values = 1000,  ///< + field number: value_size bytes a record, or the concatenated bytes values
  field_bounds = 2000,  ///< + field number: u64[N + 1], for bytes fields
};
inline Column field_values_column(std::size_t field) {
  return Column{1000 + static_cast<std::uint32_t>(field)};
}
inline Column field_bounds_column(std::size_t field) {
  return Column{2000 + static_cast<std::uint32_t>(field)};
}
inline constexpr std::size_t kMaxFields = 1000;
/// Where segments follow a payload, they begin at a multiple of this many bytes, zeros between.
inline constexpr std::uint64_t kSegmentsAlignment = 16;
inline constexpr std::uint64_t kMaxFieldBytes = 1u << 20;  ///< of one numeric value
/// Width of key_order's elements.
inline std::uint32_t key_order_width(std::uint64_t records) {
  return records <= 0xffff'ffff ? 4 : 8;
}

struct ColumnView {
  std::span<const std::byte> bytes;
  std::uint32_t width = 0;  ///< bytes an element
  bool present() const noexcept { return width != 0; }
};

/// Columns in a mapping. create() checks that lengths fit the record count, and each access checks what it takes from
/// the file. Thread-safe.
class ColumnTable {
 public:
  struct Layout {
    std::uint64_t records = 0;
    std::vector<FieldSpec> fields;
    std::filesystem::path file;      ///< for error messages: the file that holds the columns
    std::uint64_t payload_base = 0;  ///< where payloads begin: what payload_bounds are relative to
    /// All payloads have this many bytes and follow one another: no column says where they are.
    std::optional<std::uint64_t> fixed_payload_size;
  };
  /// Throws damaged if a required column is missing or has another length than `layout` asks for. `find_column` returns
  /// the bytes of a column, or an absent view if there is none. ColumnTable() is a table of no records.
  static ColumnTable create(Layout layout, const std::function<ColumnView(Column)>& find_column);

  std::uint64_t records() const noexcept { return layout_.records; }
  const std::filesystem::path& file() const noexcept { return layout_.file; }

  // REQUIRES: record < records() for all of these. Those that may meet damage throw Error(damaged).
  RecordMeta meta(std::uint64_t record) const;
  std::uint64_t payload_offset(std::uint64_t record) const noexcept;
  std::uint64_t payload_size(std::uint64_t record) const;
  std::uint64_t segments_size(std::uint64_t record) const;
  /// Has what the functions above and below look up of a record brought into the processor's caches.
  void prefetch_entry(std::uint64_t record) const noexcept;
  /// In the data file. Meaningless with segments_inline() false.
  std::uint64_t segments_offset(std::uint64_t record) const;
  /// Whether segments lie in the data file; else segments() has them.
  bool segments_inline() const noexcept { return !segment_bytes_.present(); }
  std::span<const std::byte> segments(std::uint64_t record) const;
  std::string_view key(std::uint64_t record) const;
  std::span<const std::byte> field(std::uint64_t record, std::size_t field) const;
  bool has_frames() const noexcept { return frame_offset_.present(); }
  std::uint64_t frame_offset(std::uint64_t record) const noexcept;
  std::uint64_t frame_size(std::uint64_t record) const noexcept;
  /// The record number at `position` of key_order.
  std::uint64_t key_order(std::uint64_t position) const;
  /// Takes positions [first, first + count) of key_order out of this process's resident memory.
  void release_key_order(std::uint64_t first, std::uint64_t count) const noexcept;
  /// Search by hash in key_order, then comparison of the keys.
  std::optional<std::uint64_t> find(std::string_view key) const;

  /// Takes the columns of [first, first + count) out of this process's resident memory.
  void release(std::uint64_t first, std::uint64_t count) const noexcept;

  /// Reports what the columns contradict among themselves: bounds out of order, key_order no permutation or unsorted,
  /// codecs without meaning. Memory is bounded; time grows with records^2 / 1 million.
  void check(DamageSink& sink) const;

 private:
  std::span<const std::byte> bounded(const ColumnView& bounds, const ColumnView& values, std::uint64_t record,
                                     std::string_view what) const;

  Layout layout_;
  ColumnView payload_offset_, payload_size_, payload_bounds_, segments_offset_, segments_size_, segment_bounds_,
      segment_bytes_, label_, width_, height_, channels_, codec_, checksum_, key_bounds_, key_bytes_, key_order_,
      frame_offset_, frame_size_;
  std::vector<ColumnView> field_values_, field_bounds_;
};

/// Receives columns as they are written, in pieces.
class ColumnSink {
 public:
  struct Spec {
    Column column;
    std::uint32_t width;  ///< bytes an element
    std::uint64_t count;  ///< elements
  };
  virtual ~ColumnSink() = default;
  /// Called once, with all columns in their order.
  virtual void begin(std::span<const Spec> columns) = 0;
  /// The next bytes of column number `index` of begin()'s list. Pieces of one column come in order; columns interleave.
  virtual void write(std::size_t index, std::span<const std::byte> bytes) = 0;
};

/// How columns say where payloads are.
enum class PayloadColumns : std::uint8_t {
  places,  ///< payload_offset and payload_size
  bounds,  ///< payload_bounds
  none,    ///< not at all: they have one size and follow one another
};

struct ColumnOptions {
  PayloadColumns payloads = PayloadColumns::places;
  bool segments_offset = false;  ///< besides segments_size, for segments that do not follow the payload
  bool segment_blob = false;     ///< segment_bounds and segment_bytes (from LogRow::segments) instead of segments_size
  bool frames = false;           ///< frame_offset and frame_size
  std::filesystem::path work_dir;  ///< for nameless temporary files
};

/// Reads the log once and writes all columns of `info`; memory is bounded. Throws refused, naming both records'
/// numbers, if two records have the same key. Segment columns are written only if any record has segments.
void write_columns(const RecordLog& log, const DatasetInfo& info, const ColumnOptions& options, ColumnSink& sink);

/// A key's place in key_order: compared as an unsigned 128-bit number, high half first.
struct KeyHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const KeyHash&) const = default;
};
KeyHash hash_key(std::string_view key) noexcept;

}  // namespace imgpack
