// What libjpeg-turbo does for us: whole images without a segment index, changes of the entropy coding, encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "codec/image.h"
#include "imgpack/transform.h"
#include "mmap/byte_buffer.h"

namespace imgpack {

enum class JpegStatus : std::uint8_t {
  ok,
  truncated,    ///< the data end before the image does
  malformed,    ///< libjpeg-turbo refuses it; the reason is its message
  too_large,    ///< more pixels than allowed
  unsupported,  ///< valid, but not for this function
};

struct JpegResult {
  JpegStatus status = JpegStatus::ok;
  std::string reason;  ///< for people; empty if ok
  bool ok() const noexcept { return status == JpegStatus::ok; }
};

/// Decodes a whole JPEG as Pillow 9.4 shows it after convert("RGB"): libjpeg-turbo's defaults, gray replicated, CMYK
/// and YCCK inverted and multiplied as Pillow does; refuses what Pillow refuses (data that end before the last row) and
/// accepts what it accepts (corrupt data with warnings). Rows before the failure have been handed out then.
/// Thread-safe.
JpegResult decode_jpeg_rows(std::span<const std::byte> file, std::uint64_t max_pixels, RowSink& rows);

/// Encodes as a baseline JPEG with optimised Huffman tables and no metadata but JFIF. `quality` 1 to 100;
/// `restart_mcus` 0: no restart markers. The same bytes for the same pixels. Throws std::bad_alloc.
/// REQUIRES: 1 <= width, height <= 65500.
void encode_jpeg(ConstRgbView image, int quality, Subsampling subsampling, unsigned restart_mcus, ByteBuffer& out);

struct TranscodeOptions {
  bool restart_markers = false;  ///< one every few MCUs, so that rows of MCUs divide evenly where they can
};

/// Rewrites the entropy coding: baseline Huffman (extended where tables have 16 bits), optimised tables, one
/// interleaved scan. Coefficients, quantisation tables, colour space and all APP and COM segments stay. Refuses
/// (malformed) files for which libjpeg-turbo warns, since what their coefficients are is a matter of opinion.
/// Thread-safe.
JpegResult transcode_jpeg(std::span<const std::byte> file, std::uint64_t max_pixels, const TranscodeOptions& options,
                          ByteBuffer& out);

/// Whether two JPEG files have the same frame, quantisation tables and coefficients. For tests and verification.
bool same_coefficients(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace imgpack
