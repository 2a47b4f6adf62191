// Decodes rectangles of indexed JPEG files, bit for bit as libjpeg-turbo's whole decode would show them there, reading
// and decoding only the segments that the rectangle touches.
//
//   SegmentIndex index;
//   if (open_segment_index(record.segments, record.payload, index) == IndexStatus::ok) {
//     DecodeReport report = decoder.decode(record.payload, index, crop, image.resize({crop.width, crop.height}));
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "codec/image.h"
#include "codec/jpeg/segment_index.h"

namespace imgpack::jpeg {

/// What was found while decoding. A damaged segment is one whose codes make no sense or that does not end where the
/// next one begins; its pixels are unspecified (the same each time), all others are right if the index is.
///
/// A whole image without a damaged segment is what libjpeg-turbo shows of the same bytes, whatever the index. Two
/// things can't be noticed: bits of a coefficient that were flipped and still make a code of the same length (JPEG has
/// no checksums; the record has), and, in a crop, a wrong entry of the index whose segment is not decoded up to its
/// end.
struct DecodeReport {
  std::uint32_t segments = 0;  ///< touched
  std::uint32_t damaged_segments = 0;
  std::uint32_t first_damaged = 0;  ///< number of the first of these
  bool ok() const noexcept { return damaged_segments == 0; }
};

/// Not thread-safe; keeps its memory and tables from image to image.
class CropDecoder {
 public:
  CropDecoder();
  ~CropDecoder();
  CropDecoder(CropDecoder&&) noexcept;
  CropDecoder& operator=(CropDecoder&&) noexcept;

  /// Rows of the crop, top to bottom. REQUIRES: `index` was opened with `file`; `crop` lies in the image. Throws what
  /// `rows` throws, and std::bad_alloc; memory is for two rows of MCUs.
  DecodeReport decode(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop, RowSink& rows);
  /// Straight into `out`, which has the crop's size.
  DecodeReport decode(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop, RgbView out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack::jpeg
