// The journal of a store under construction: one row an entry of the source, in order.
//
// A writer appends a payload to its format's file and then a row here; finish() reads the rows back to write the index,
// so that memory does not grow with the number of records, and a resumed writer reads them to see how far it had come.
// Rows are framed and checksummed: a torn tail is cut off, never trusted. The file is private to one version of imgpack
// and carries a magic, that version and the fingerprint of what is being built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/content_digest.h"
#include "imgpack/dataset_info.h"
#include "imgpack/record.h"
#include "mmap/append_file.h"
#include "mmap/file.h"

namespace imgpack {

/// What the log keeps of a record. Views are borrowed: of the caller for append, of the reader until its next row.
struct LogRow {
  RecordMeta meta;
  std::uint32_t split = 0;
  std::uint64_t payload_offset = 0;   ///< in the format's file
  std::uint64_t segments_offset = 0;  ///< in the format's file, if the format puts segments there
  std::uint64_t frame_offset = 0;     ///< TFRecord: where the record's frame starts and how long it is
  std::uint64_t frame_size = 0;
  std::string_view key;
  std::span<const std::string_view> fields;
  std::span<const std::byte> segments;  ///< only for formats that write segments in finish()
};

/// An entry that was left out.
struct LogLeftOut {
  std::string_view key;
  std::string_view reason;
  bool ignored = false;
};

/// Sums over a log's rows, kept while it grows.
struct LogTotals {
  struct SplitRange {
    std::uint32_t split;
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::uint64_t records = 0;
  std::uint64_t left_out = 0;
  std::uint64_t ignored = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t segment_bytes = 0;
  std::uint64_t pixels = 0;
  std::uint64_t key_bytes = 0;
  ContentDigest content_digest;
  std::vector<std::uint64_t> field_bytes;  ///< one a field
  std::vector<SplitRange> split_ranges;    ///< runs of records of one split
  std::vector<LeftOut> first_left_out;     ///< at most DatasetInfo::kMaxLeftOut
};

class RecordLog {
 public:
  /// Starts an empty log in `file` (truncating it). `file` must outlive the log.
  static RecordLog start(File& file, std::string_view fingerprint);
  /// The fingerprint of the log in `file`, or nothing if `file` holds no log of this version.
  static std::optional<std::string> read_fingerprint(const File& file);
  /// Whether `file`, which holds no log, may be what is left of one: empty, of another version, or zeros after a power
  /// cut.
  static bool may_be_torn_log(const File& file);
  /// Goes on with the log in `file`, keeping `records` record rows and the left-out rows before the next one.
  static RecordLog resume(File& file, std::uint64_t records);
  /// Goes on with a log that was sealed, or gives nothing if it was not.
  static std::optional<RecordLog> resume_sealed(File& file);

  void append(const LogRow& row);
  void append(const LogLeftOut& row);
  void flush();
  /// Notes durably that all outputs are complete and synced: only publishing is left. Nothing may be appended
  /// afterwards.
  void seal();
  bool sealed() const noexcept { return sealed_; }

  std::uint64_t records() const noexcept { return totals_.records; }
  std::uint64_t left_out() const noexcept { return totals_.left_out; }
  const LogTotals& totals() const noexcept { return totals_; }

  const File& file() const noexcept { return *file_; }

 private:
  RecordLog(File& file, std::uint64_t end);
  void append_framed(std::uint8_t type);

  File* file_;
  AppendFile out_;
  std::vector<std::byte> body_;
  LogTotals totals_;
  bool sealed_ = false;
};

/// Reads a log from its start. Stops quietly at a torn or damaged row. Not thread-safe.
class RecordLogReader {
 public:
  enum class Kind { record, left_out, sealed, end };

  /// All that was appended must have been flushed.
  explicit RecordLogReader(const File& file);
  Kind next();
  const LogRow& record() const noexcept { return row_; }
  const LogLeftOut& left_out() const noexcept { return left_out_; }
  /// Offset behind the last row that next() returned.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  std::span<const std::byte> read(std::size_t size);
  bool parse_record(std::span<const std::byte> body);
  bool parse_left_out(std::span<const std::byte> body);

  const File& file_;
  std::vector<std::byte> buffer_;  ///< a window of the file
  std::size_t filled_ = 0;
  std::uint64_t window_offset_ = 0;
  std::uint64_t offset_ = 0;
  LogRow row_;
  LogLeftOut left_out_;
  std::vector<std::string_view> fields_;
};

}  // namespace imgpack
