// What libjpeg-turbo does for us: whole images without a segment index, changes of the entropy coding, encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "codec/image.h"
#include "codec/image_result.h"
#include "imgpack/transform.h"
#include "mmap/byte_buffer.h"

namespace imgpack {

/// Decodes a whole JPEG as Pillow 9.4 shows it after convert("RGB"): libjpeg-turbo's defaults, gray replicated, CMYK
/// and YCCK inverted and multiplied as Pillow does; refuses what Pillow refuses (data that end before the last row)
/// and accepts what it accepts (corrupt data with warnings, a missing end). Two exceptions: arithmetic-coded files of
/// more than 64 KiB, which Pillow can't feed, are decoded; files of more than 256 scans are refused.
/// `rows` has the size that read_image_header() tells and gets up to 16 rows at a time. Rows before a failure have been
/// handed out then. Progressive files need 2 bytes a sample, others a few rows. Throws std::bad_alloc and what `rows`
/// throws. Thread-safe.
ImageResult decode_jpeg_rows(std::span<const std::byte> file, std::uint64_t max_pixels, RowSink& rows);

/// Encodes as a baseline JPEG with optimised Huffman tables and no metadata but JFIF. `quality` 1 to 100;
/// `restart_mcus` 0: no restart markers. The same bytes for the same pixels. Throws std::bad_alloc. Thread-safe.
/// REQUIRES: 1 <= width, height <= 65500, restart_mcus <= 65535.
void encode_jpeg(ConstRgbView image, int quality, Subsampling subsampling, unsigned restart_mcus, ByteBuffer& out);

struct TranscodeOptions {
  /// One every few MCUs: a divisor of the MCUs in a row that makes segments of 16 to 48 blocks, near 24; one at the end
  /// of each row where there is no such divisor. So every row of MCUs begins with a segment.
  bool restart_markers = false;
};

/// Rewrites the entropy coding: baseline Huffman (extended where quantisation tables have 16 bits), optimised tables,
/// one interleaved scan. Coefficients, quantisation tables, colour space and all APP and COM segments stay, the latter
/// in their order. The same bytes for the same file. Refuses, as damaged, files about whose scans libjpeg-turbo
/// warns, since what their coefficients are is a matter of opinion; a missing end-of-image marker alone is tolerated
/// where the data show to be complete. unsupported: the result would have more than 10 blocks in an MCU, or a colour
/// marker would move. Needs 2 bytes a sample. Throws std::bad_alloc. Thread-safe.
ImageResult transcode_jpeg(std::span<const std::byte> file, std::uint64_t max_pixels, const TranscodeOptions& options,
                           ByteBuffer& out);

/// Whether two JPEG files have the same frame, colour space, quantisation tables and coefficients; false if one can't
/// be read without warnings. For tests and verification. Throws std::bad_alloc.
bool same_coefficients(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace imgpack
