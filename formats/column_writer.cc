#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "formats/columns.h"
#include "formats/key_sorter.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack {

namespace {

constexpr std::size_t kPiece = 64u << 10;

/// Which columns there are and in what order; gathers small appends into pieces for the sink.
class ColumnSet {
 public:
  explicit ColumnSet(ColumnSink& sink) : sink_(sink) {}

  std::size_t declare(Column column, std::uint32_t width, std::uint64_t count) {
    specs_.push_back({.column = column, .width = width, .count = count});
    return specs_.size() - 1;
  }
  void begin() {
    buffers_.resize(specs_.size());
    sink_.begin(specs_);
  }
  template <std::integral T>
  void add(std::size_t index, T value) {
    std::vector<std::byte>& buffer = buffers_[index];
    append_le(buffer, value);
    if (buffer.size() >= kPiece) flush(index);
  }
  void add_bytes(std::size_t index, std::span<const std::byte> bytes) {
    std::vector<std::byte>& buffer = buffers_[index];
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
    if (buffer.size() >= kPiece) flush(index);
  }
  void finish() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) flush(i);
  }

 private:
  void flush(std::size_t index) {
    if (!buffers_[index].empty()) sink_.write(index, buffers_[index]);
    buffers_[index].clear();
  }

  ColumnSink& sink_;
  std::vector<ColumnSink::Spec> specs_;
  std::vector<std::vector<std::byte>> buffers_;
};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The columns of one dataset and where in the set they are.
class ColumnWriter {
 public:
  ColumnWriter(const LogTotals& totals, const DatasetInfo& info, const ColumnOptions& options, ColumnSink& sink)
      : info_(info), options_(options), set_(sink), sorter_(options.work_dir) {
    const std::uint64_t n = totals.records;
    if (options.payloads == PayloadColumns::bounds) {
      payload_bounds_ = set_.declare(Column::payload_bounds, 8, n + 1);
    } else if (options.payloads == PayloadColumns::places) {
      payload_offset_ = set_.declare(Column::payload_offset, 8, n);
      payload_size_ = set_.declare(Column::payload_size, 8, n);
    }
    has_segments_ = totals.segment_bytes > 0;
    if (has_segments_ && options.segment_blob) {
      segment_bounds_ = set_.declare(Column::segment_bounds, 8, n + 1);
      segment_bytes_ = set_.declare(Column::segment_bytes, 1, totals.segment_bytes);
    } else if (has_segments_) {
      segments_size_ = set_.declare(Column::segments_size, 8, n);
      if (options.segments_offset) segments_offset_ = set_.declare(Column::segments_offset, 8, n);
    }
    label_ = set_.declare(Column::label, 8, n);
    width_ = set_.declare(Column::width, 4, n);
    height_ = set_.declare(Column::height, 4, n);
    channels_ = set_.declare(Column::channels, 1, n);
    codec_ = set_.declare(Column::codec, 1, n);
    checksum_ = set_.declare(Column::checksum, 8, n);
    key_bounds_ = set_.declare(Column::key_bounds, 8, n + 1);
    key_bytes_ = set_.declare(Column::key_bytes, 1, totals.key_bytes);
    key_order_ = set_.declare(Column::key_order, key_order_width(n), n);
    if (options.frames) {
      frame_offset_ = set_.declare(Column::frame_offset, 8, n);
      frame_size_ = set_.declare(Column::frame_size, 8, n);
    }
    for (std::size_t i = 0; i < info.fields.size(); ++i) {
      const bool blob = info.fields[i].type == FieldType::bytes;
      const std::uint64_t bytes = i < totals.field_bytes.size() ? totals.field_bytes[i] : 0;
      field_values_.push_back(
          blob ? set_.declare(field_values_column(i), 1, bytes)
               : set_.declare(field_values_column(i), static_cast<std::uint32_t>(info.fields[i].value_size()), n));
      field_bounds_.push_back(blob ? set_.declare(field_bounds_column(i), 8, n + 1) : 0);
    }
    field_ends_.resize(info.fields.size());
    set_.begin();
    add_first_bounds();
  }

  void add(const LogRow& row) {
    if (options_.payloads == PayloadColumns::bounds) {
      set_.add(payload_bounds_, payload_end_ += row.meta.payload_size);
    } else if (options_.payloads == PayloadColumns::places) {
      set_.add(payload_offset_, row.payload_offset);
      set_.add(payload_size_, row.meta.payload_size);
    }
    if (has_segments_ && options_.segment_blob) {
      set_.add(segment_bounds_, segment_end_ += row.segments.size());
      set_.add_bytes(segment_bytes_, row.segments);
    } else if (has_segments_) {
      set_.add(segments_size_, row.meta.segments_size);
      if (options_.segments_offset) set_.add(segments_offset_, row.segments_offset);
    }
    set_.add(label_, row.meta.label);
    set_.add(width_, row.meta.width);
    set_.add(height_, row.meta.height);
    set_.add(channels_, row.meta.channels);
    set_.add(codec_, static_cast<std::uint8_t>(row.meta.codec));
    set_.add(checksum_, row.meta.checksum);
    set_.add(key_bounds_, key_end_ += row.key.size());
    set_.add_bytes(key_bytes_, bytes_of(row.key));
    if (options_.frames) {
      set_.add(frame_offset_, row.frame_offset);
      set_.add(frame_size_, row.frame_size);
    }
    for (std::size_t i = 0; i < info_.fields.size(); ++i) {
      set_.add_bytes(field_values_[i], bytes_of(row.fields[i]));
      if (info_.fields[i].type == FieldType::bytes) set_.add(field_bounds_[i], field_ends_[i] += row.fields[i].size());
    }
    sorter_.add(hash_key(row.key), records_++);
  }

  void finish() {
    std::optional<KeyHash> previous;
    std::uint64_t previous_number = 0;
    const bool narrow = key_order_width(records_) == 4;
    sorter_.visit([&](KeyHash hash, std::uint64_t number) {
      if (previous && *previous == hash) {
        throw Error(ErrorCode::refused, fmt::format("records {} and {} have the same key", previous_number, number));
      }
      previous = hash;
      previous_number = number;
      if (narrow) {
        set_.add(key_order_, static_cast<std::uint32_t>(number));
      } else {
        set_.add(key_order_, number);
      }
    });
    set_.finish();
  }

 private:
  void add_first_bounds() {
    constexpr std::uint64_t kZero = 0;
    if (options_.payloads == PayloadColumns::bounds) set_.add(payload_bounds_, kZero);
    if (has_segments_ && options_.segment_blob) set_.add(segment_bounds_, kZero);
    set_.add(key_bounds_, kZero);
    for (std::size_t i = 0; i < info_.fields.size(); ++i) {
      if (info_.fields[i].type == FieldType::bytes) set_.add(field_bounds_[i], kZero);
    }
  }

  const DatasetInfo& info_;
  const ColumnOptions& options_;
  ColumnSet set_;
  KeySorter sorter_;
  bool has_segments_ = false;
  std::uint64_t records_ = 0;
  std::uint64_t payload_end_ = 0, segment_end_ = 0, key_end_ = 0;
  std::vector<std::uint64_t> field_ends_;
  std::size_t payload_offset_ = 0, payload_size_ = 0, payload_bounds_ = 0, segments_offset_ = 0, segments_size_ = 0,
              segment_bounds_ = 0, segment_bytes_ = 0, label_ = 0, width_ = 0, height_ = 0, channels_ = 0, codec_ = 0,
              checksum_ = 0, key_bounds_ = 0, key_bytes_ = 0, key_order_ = 0, frame_offset_ = 0, frame_size_ = 0;
  std::vector<std::size_t> field_values_, field_bounds_;
};

}  // namespace

void write_columns(const RecordLog& log, const DatasetInfo& info, const ColumnOptions& options, ColumnSink& sink) {
  ColumnWriter writer(log.totals(), info, options, sink);
  RecordLogReader reader(log.file());
  std::uint64_t records = 0;
  for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
    if (kind != RecordLogReader::Kind::record) continue;
    if (reader.record().fields.size() != info.fields.size()) break;
    writer.add(reader.record());
    ++records;
  }
  if (records != log.records()) {
    throw Error(ErrorCode::damaged, "the build log lost rows while the index was written",
                {.file = log.file().path().string(), .record = records, .offset = reader.offset()});
  }
  writer.finish();
}

}  // namespace imgpack
