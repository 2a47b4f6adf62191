// The journal of a store under construction: one row an entry of the source, in order.
//
// A writer appends a payload to its format's file and then a row here; finish() reads the rows back to write the index,
// so that memory does not grow with the number of records, and a resumed writer reads them to see how far it had come.
// Rows are framed and checksummed: a torn tail is cut off, never trusted. The file is private to one version of imgpack
// and carries a magic, that version and the fingerprint of what is being built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
};

class RecordLog {
 public:
  /// Starts an empty log in `file` (truncating it).
  static RecordLog start(File& file, std::string_view fingerprint);
  /// Whether `file` holds a log of this version, and for which fingerprint.
  static bool read_fingerprint(const File& file, std::string& fingerprint);
  /// Goes on with the log in `file`, keeping `records` record rows and the left-out rows before the next one.
  static RecordLog resume(File& file, std::uint64_t records);

  void append(const LogRow& row);
  void append(const LogLeftOut& row);
  void flush();

  std::uint64_t records() const noexcept { return records_; }
  std::uint64_t left_out() const noexcept { return left_out_; }
  std::uint64_t key_bytes() const noexcept { return key_bytes_; }

  const File& file() const noexcept;

 private:
  RecordLog(File& file, std::uint64_t end);
  void append_framed();

  File* file_;
  std::unique_ptr<AppendFile> out_;
  std::vector<std::byte> scratch_;
  std::uint64_t records_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t key_bytes_ = 0;
};

/// Reads a log from its start. Stops quietly at a torn or damaged row. Not thread-safe.
class RecordLogReader {
 public:
  enum class Kind { record, left_out, end };

  /// All that was appended must have been flushed.
  explicit RecordLogReader(const File& file);
  Kind next();
  const LogRow& record() const noexcept { return row_; }
  const LogLeftOut& left_out() const noexcept { return left_out_; }
  /// Offset behind the last row that next() returned.
  std::uint64_t offset() const noexcept { return offset_; }

 private:
  bool fill(std::size_t needed);
  bool parse_record(std::span<const std::byte> body);
  bool parse_left_out(std::span<const std::byte> body);

  const File& file_;
  std::vector<std::byte> buffer_;
  std::size_t buffer_begin_ = 0;
  std::uint64_t buffer_offset_ = 0;  ///< file offset of buffer_[0]
  std::uint64_t offset_ = 0;
  LogRow row_;
  LogLeftOut left_out_;
  std::vector<std::string_view> fields_;
};

}  // namespace imgpack
