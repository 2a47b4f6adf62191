#include "mmap/append_file.h"

#include <algorithm>
#include <array>

namespace imgpack {

AppendFile::AppendFile(File& file, std::uint64_t offset, std::size_t buffer_size)
    : file_(&file), flushed_(offset), written_behind_(offset), capacity_(buffer_size) {
  // Not needlessly: ext4 takes a truncation for a sign that the file is being replaced, and flushes it when it is
  // closed.
  if (file_->size() != offset) file_->truncate(offset);
  buffer_.reserve(capacity_);
}

void AppendFile::append(std::span<const std::byte> data) {
  if (data.size() <= capacity_ - buffer_.size()) {
    buffer_.insert(buffer_.end(), data.begin(), data.end());
    return;
  }
  if (data.size() < capacity_ / 2) {
    const std::size_t first = capacity_ - buffer_.size();
    buffer_.insert(buffer_.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(first));
    flush();
    buffer_.insert(buffer_.end(), data.begin() + static_cast<std::ptrdiff_t>(first), data.end());
    return;
  }
  const std::array<std::span<const std::byte>, 2> parts = {std::span<const std::byte>(buffer_), data};
  file_->write_at(flushed_, parts);
  flushed_ += buffer_.size() + data.size();
  buffer_.clear();
}

void AppendFile::pad_to(std::uint64_t alignment) {
  static constexpr std::array<std::byte, 256> kZeros{};
  std::uint64_t missing = (alignment - position() % alignment) % alignment;
  while (missing > 0) {
    const std::size_t piece = static_cast<std::size_t>(std::min<std::uint64_t>(missing, kZeros.size()));
    append(std::span(kZeros).first(piece));
    missing -= piece;
  }
}

void AppendFile::write_behind() noexcept {
  constexpr std::uint64_t kStep = 16u << 20;
  if (flushed_ - written_behind_ < kStep) return;
  file_->start_writeback(written_behind_, flushed_ - written_behind_);
  written_behind_ = flushed_;
}

void AppendFile::flush() {
  if (buffer_.empty()) return;
  file_->write_at(flushed_, buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

}  // namespace imgpack
