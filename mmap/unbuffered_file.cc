#include "mmap/unbuffered_file.h"

#include <cerrno>
#include <cstdlib>
#include <new>

#include <fcntl.h>

#include "mmap/system_error.h"

namespace imgpack {

namespace {

// Large enough for every device in use; statx can tell the exact figure only on recent kernels.
constexpr std::size_t kDirectAlignment = 4096;

}  // namespace

void AlignedBuffer::Free::operator()(std::byte* data) const noexcept {
  std::free(data);
}

AlignedBuffer::AlignedBuffer(std::size_t size, std::size_t alignment) : size_(size) {
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (data_ == nullptr && rounded != 0) throw std::bad_alloc();
}

UnbufferedFile UnbufferedFile::open(const std::filesystem::path& path) {
  UnbufferedFile result;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (descriptor >= 0) {
    result.file_ = File(descriptor, path);
    result.direct_ = true;
  } else if (errno == EINVAL || errno == EOPNOTSUPP) {
    result.file_ = File::open(path, File::Mode::read);
  } else {
    throw system_error(errno, "open", path);
  }
  result.alignment_ = kDirectAlignment;
  result.size_ = result.file_.size();
  return result;
}

std::size_t UnbufferedFile::buffer_size(std::uint64_t size) const noexcept {
  // The range may begin and end anywhere in a block.
  return static_cast<std::size_t>((size + alignment_ - 1) / alignment_ * alignment_ + alignment_);
}

std::span<const std::byte> UnbufferedFile::read(std::uint64_t offset, std::uint64_t size, AlignedBuffer& buffer) const {
  if (offset > size_ || size > size_ - offset) {
    throw Error(ErrorCode::damaged, "the file ends too early",
                {.file = file_.path().string(), .record = {}, .offset = offset});
  }
  const std::uint64_t begin = offset / alignment_ * alignment_;
  const std::uint64_t end = (offset + size + alignment_ - 1) / alignment_ * alignment_;
  if (buffer.bytes().size() < end - begin) {
    throw Error(ErrorCode::invalid_argument, "the buffer is smaller than buffer_size()");
  }
  const std::size_t got = file_.read_some_at(begin, buffer.bytes().first(static_cast<std::size_t>(end - begin)));
  if (got < offset + size - begin) {
    throw Error(ErrorCode::damaged, "the file ends too early",
                {.file = file_.path().string(), .record = {}, .offset = begin + got});
  }
  return buffer.bytes().subspan(static_cast<std::size_t>(offset - begin), static_cast<std::size_t>(size));
}

}  // namespace imgpack
