#include "mmap/unbuffered_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include "mmap/paths.h"
#include "mmap/system_error.h"

namespace imgpack {

namespace {

// Large enough for every device in use; statx can tell the exact figure only on recent kernels.
constexpr std::size_t kDirectAlignment = 4096;
constexpr std::size_t kLargestTransfer = 1u << 30;

/// Reads at least `needed` bytes into `out`, unless the file ends before. Offsets stay multiples of `alignment`: what
/// ends inside a block is read again from the block's start.
std::size_t read_blocks(const File& file, std::uint64_t offset, std::span<std::byte> out, std::size_t needed,
                        std::size_t alignment) {
  std::size_t done = 0;
  while (true) {
    const std::size_t wanted = std::min(out.size() - done, kLargestTransfer);
    const ssize_t got = ::pread(file.descriptor(), out.data() + done, wanted, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw system_error(errno, "read", file.path(), offset + done);
    }
    const std::size_t end = done + static_cast<std::size_t>(got);
    if (end >= needed) return end;
    const std::size_t whole_blocks = end / alignment * alignment;
    if (whole_blocks <= done) return end;
    done = whole_blocks;
  }
}

}  // namespace

void AlignedBuffer::Free::operator()(std::byte* data) const noexcept {
  std::free(data);
}

AlignedBuffer::AlignedBuffer(std::size_t size, std::size_t alignment) : size_(size) {
  if (size > std::numeric_limits<std::size_t>::max() - alignment) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  if (data_ == nullptr && rounded != 0) throw std::bad_alloc();
}

UnbufferedFile UnbufferedFile::open(const std::filesystem::path& path) {
  UnbufferedFile result;
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
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
  // The range may begin and end anywhere in a block. A size beyond all files gets what no allocation can give.
  if (size > std::numeric_limits<std::size_t>::max() - 2 * alignment_) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>((size + alignment_ - 1) / alignment_ * alignment_ + alignment_);
}

std::span<const std::byte> UnbufferedFile::read(std::uint64_t offset, std::uint64_t size, AlignedBuffer& buffer) const {
  if (offset > size_ || size > size_ - offset) {
    throw Error(ErrorCode::damaged, "the file ends too early", in_file(file_.path(), offset));
  }
  const std::uint64_t begin = offset / alignment_ * alignment_;
  const std::uint64_t end = (offset + size + alignment_ - 1) / alignment_ * alignment_;
  if (buffer.bytes().size() < end - begin) {
    throw Error(ErrorCode::invalid_argument, "the buffer is smaller than buffer_size()");
  }
  if (reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % alignment_ != 0) {
    throw Error(ErrorCode::invalid_argument, "the buffer is not aligned to alignment()");
  }
  const auto needed = static_cast<std::size_t>(offset + size - begin);
  const std::size_t got =
      read_blocks(file_, begin, buffer.bytes().first(static_cast<std::size_t>(end - begin)), needed, alignment_);
  if (got < needed) {
    throw Error(ErrorCode::damaged, "the file ends too early",
                {.file = file_.path().string(), .record = {}, .offset = begin + got});
  }
  return buffer.bytes().subspan(static_cast<std::size_t>(offset - begin), static_cast<std::size_t>(size));
}

}  // namespace imgpack
