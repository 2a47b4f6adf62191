#include "codec/raw.h"

#include <fmt/format.h>
#include <zstd.h>

#include "imgpack/error.h"

namespace imgpack {

void compress_zstd(std::span<const std::byte> bytes, int level, ByteBuffer& out) {
  out.resize(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0) {
    throw Error(ErrorCode::io, fmt::format("zstd can't compress {} bytes: {}", bytes.size(), ZSTD_getErrorName(size)));
  }
  out.shrink(size);
}

std::string decompress_zstd(std::span<const std::byte> frame, std::size_t size, ByteBuffer& out) {
  const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return "its bytes are no zstd frame";
  if (content != size) return fmt::format("its zstd frame does not hold {} bytes", size);
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return "its bytes are not exactly one zstd frame";
  }
  out.resize(size);
  const std::size_t got = ZSTD_decompress(out.data(), size, frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) return fmt::format("its zstd frame is damaged: {}", ZSTD_getErrorName(got));
  return got == size ? std::string() : fmt::format("its zstd frame holds {} bytes instead of {}", got, size);
}

}  // namespace imgpack
