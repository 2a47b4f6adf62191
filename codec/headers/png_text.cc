#include "codec/headers/png_text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include <zlib.h>

namespace imgpack::headers {

namespace {

/// Ends the zlib stream whatever happens.
class InflateStream {
 public:
  explicit InflateStream(Bytes compressed) {
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(compressed.size());
    if (::inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~InflateStream() { ::inflateEnd(&stream_); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  z_stream& operator*() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

Inflated inflate_size(Bytes compressed) {
  // zlib counts in 32 bits, and so does a chunk's length: nothing is cut off here.
  InflateStream owner(compressed.first(std::min<std::size_t>(compressed.size(), std::numeric_limits<uInt>::max())));
  z_stream& stream = *owner;
  std::array<Bytef, 16384> scratch;
  Inflated result;
  while (true) {
    const std::size_t room = std::min(scratch.size(), kMaxInflatedChunk - result.size);
    stream.next_out = scratch.data();
    stream.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&stream, Z_SYNC_FLUSH);
    result.size += room - stream.avail_out;
    if (status == Z_STREAM_END) return result;
    if (status != Z_OK && status != Z_BUF_ERROR) {
      result.damaged = true;
      return result;
    }
    if (stream.avail_out != 0) return result;  // all input is used up
    if (result.size == kMaxInflatedChunk) {
      result.too_large = stream.avail_in > 0;
      return result;
    }
  }
}

}  // namespace imgpack::headers
