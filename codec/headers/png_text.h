// The compressed parts of a PNG header (colour profile, texts), as far as they decide whether a file opens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/headers/byte_reader.h"

namespace imgpack::headers {

/// Pillow opens no file with a profile or a text that decompresses to more than this.
inline constexpr std::size_t kMaxInflatedChunk = 1u << 20;
/// ... or whose texts have more than this together.
inline constexpr std::uint64_t kMaxTextTotal = std::uint64_t{64} << 20;

struct Inflated {
  bool damaged = false;    ///< not a zlib stream; a stream that merely ends early is not damaged
  bool too_large = false;  ///< more than kMaxInflatedChunk
  std::size_t size = 0;    ///< bytes of content, at most kMaxInflatedChunk
};

/// Decompresses a zlib stream without keeping the content. Needs about 50 KiB and time linear in the content.
Inflated inflate_size(Bytes compressed);

}  // namespace imgpack::headers
