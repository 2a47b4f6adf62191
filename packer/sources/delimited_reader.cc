#include "packer/sources/delimited_reader.h"

#include <fmt/format.h>

namespace imgpack {

namespace {
constexpr std::size_t kBufferBytes = 1u << 18;
}  // namespace

DelimitedReader::DelimitedReader(const File& file, char separator) : file_(file), separator_(separator) {
  rewind();
}

void DelimitedReader::rewind() {
  buffer_.resize(kBufferBytes);
  at_ = filled_ = 0;
  buffer_offset_ = 0;
  line_ = row_line_ = 1;
  row_offset_ = 0;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::byte head[kByteOrderMark.size()];
  const std::size_t got = file_.read_some_at(0, head);
  if (std::string_view(reinterpret_cast<const char*>(head), got) == kByteOrderMark) buffer_offset_ = got;
}

int DelimitedReader::peek() {
  if (at_ == filled_) {
    buffer_offset_ += filled_;
    at_ = 0;
    filled_ = file_.read_some_at(buffer_offset_, buffer_);
    if (filled_ == 0) return kEnd;
  }
  return static_cast<int>(buffer_[at_]);
}

int DelimitedReader::take() {
  const int byte = peek();
  if (byte == kEnd) return byte;
  ++at_;
  if (byte == '\n') ++line_;
  if (byte == 0) fail("a NUL byte: this is not a text file in UTF-8 or ASCII");
  if (buffer_offset_ + at_ - row_offset_ > kMaxRowBytes) {
    fail(fmt::format("the row is longer than {} bytes", kMaxRowBytes));
  }
  return byte;
}

void DelimitedReader::end_cell() {
  if (ends_.size() == kMaxCells) fail(fmt::format("more than {} cells", kMaxCells));
  ends_.push_back(text_.size());
}

/// Whether `byte`, just taken outside quotes, ends the row.
bool DelimitedReader::end_of_line(int byte) {
  if (byte == '\n' || byte == kEnd) return true;
  if (byte != '\r') return false;
  const int next = peek();
  if (next != '\n' && next != kEnd)
    fail("a carriage return that ends no line; put the cell in quotes if it belongs to it");
  take();
  return true;
}

/// After the opening quote; takes the closing one.
void DelimitedReader::read_quoted() {
  for (;;) {
    const int byte = take();
    if (byte == kEnd) fail("a quote is not closed");
    if (byte == '"') {
      if (peek() != '"') return;
      take();
    }
    text_ += static_cast<char>(byte);
  }
}

/// False if there was nothing but the end of the file.
bool DelimitedReader::read_row() {
  if (peek() == kEnd) return false;
  for (;;) {
    bool quoted = false;
    if (peek() == '"') {
      take();
      read_quoted();
      quoted = true;
    }
    for (;;) {
      const int byte = take();
      if (end_of_line(byte)) {
        end_cell();
        return true;
      }
      if (byte == static_cast<unsigned char>(separator_)) break;
      if (quoted) fail("text behind a closing quote");
      text_ += static_cast<char>(byte);
    }
    end_cell();
  }
}

bool DelimitedReader::next() {
  do {
    text_.clear();
    ends_.clear();
    cells_.clear();
    row_line_ = line_;
    row_offset_ = buffer_offset_ + at_;
    if (!read_row()) return false;
  } while (ends_.size() == 1 && text_.empty());
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    cells_.push_back(std::string_view(text_).substr(begin, end - begin));
    begin = end;
  }
  return true;
}

Error DelimitedReader::error(ErrorCode code, std::string_view what) const {
  return Error(code, fmt::format("line {}: {}", row_line_, what),
               {.file = file_.path().native(), .record = row_line_, .offset = row_offset_});
}

void DelimitedReader::fail(std::string_view what) const {
  throw error(ErrorCode::damaged, what);
}

}  // namespace imgpack
