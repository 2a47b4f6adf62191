// Rows of a CSV or TSV file, one at a time: RFC 4180 with a choice of separator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/error.h"
#include "mmap/file.h"

namespace imgpack {

/// Lines end in LF or CRLF, the last one also in neither; a UTF-8 byte order mark and empty lines are skipped. A cell
/// that begins with '"' ends at the next lone '"' and may hold separators, line ends and doubled quotes; elsewhere a
/// '"' stands for itself. Memory is bounded by kMaxRowBytes. Not thread-safe.
class DelimitedReader {
 public:
  static constexpr std::size_t kMaxRowBytes = 4u << 20;
  static constexpr std::size_t kMaxCells = 4096;

  /// `file` must outlive the reader.
  DelimitedReader(const File& file, char separator);

  /// Goes to the next row; false at the end. Throws damaged (a row that is too long or has too many cells, a quote that
  /// is not closed, text behind a closing quote, a NUL byte, a CR without LF), io.
  bool next();
  /// Back to before the first row.
  void rewind();

  /// The current row's, valid until the next call of next().
  const std::vector<std::string_view>& cells() const noexcept { return cells_; }
  /// Number of the line on which the current row begins, from 1.
  std::uint64_t line() const noexcept { return row_line_; }
  /// The current row's first byte in the file.
  std::uint64_t offset() const noexcept { return row_offset_; }

  /// An Error about the current row: "line 12: WHAT", with file, line and offset.
  Error error(ErrorCode code, std::string_view what) const;

 private:
  static constexpr int kEnd = -1;
  int peek();
  int take();
  void end_cell();
  bool read_row();
  void read_quoted();
  bool end_of_line(int byte);
  [[noreturn]] void fail(std::string_view what) const;

  const File& file_;
  char separator_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;  ///< in buffer_
  std::size_t filled_ = 0;
  std::uint64_t buffer_offset_ = 0;  ///< of buffer_ in the file
  std::uint64_t line_ = 1;
  std::uint64_t row_line_ = 1;
  std::uint64_t row_offset_ = 0;
  std::string text_;               ///< of all cells of the row
  std::vector<std::size_t> ends_;  ///< of the cells in text_
  std::vector<std::string_view> cells_;
};

}  // namespace imgpack
