// Predecoded pixels as payloads: uint8, height x width x 3, plain or as one zstd frame.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "codec/image.h"
#include "mmap/byte_buffer.h"

namespace imgpack {

/// Compresses `bytes` into one zstd frame that says its content's size. `level` from 1 to 22. The same bytes for the
/// same input with the same libzstd. Throws std::bad_alloc, io if libzstd fails.
void compress_zstd(std::span<const std::byte> bytes, int level, ByteBuffer& out);

/// The content of a frame that must hold exactly `size` bytes. An empty string, or what is wrong with it.
std::string decompress_zstd(std::span<const std::byte> frame, std::size_t size, ByteBuffer& out);

}  // namespace imgpack
