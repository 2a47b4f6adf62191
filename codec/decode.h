// Decoding any record's payload, by whatever way is the best for it.
//
//   ImageDecoder decoder(&decode_other_image);
//   const ImageResult result = decoder.decode(store.meta(i), store.bytes(i), crop, out);
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "codec/image.h"
#include "codec/image_header.h"
#include "codec/image_result.h"
#include "imgpack/record.h"

namespace imgpack {

/// How a record is decoded. A GPU can do the first two without help.
enum class DecodePath : std::uint8_t {
  indexed_jpeg,  ///< from its segment index, only what is needed
  raw,           ///< no decoding
  raw_zstd,      ///< decompressed on the CPU
  whole_jpeg,    ///< from its beginning, on the CPU
  other,         ///< PNG, WebP, ..., on the CPU
};

/// The path of a record, as far as its index columns tell it.
DecodePath decode_path(const RecordMeta& meta) noexcept;

/// Whether an image of the record's size may be decoded: `damaged` if it has no pixels, `too_large` if it has more than
/// `max_pixels`, or more than have a place in any memory. To be asked before anything is allocated by that size.
ImageResult check_image_size(const RecordMeta& meta, std::uint64_t max_pixels);

/// Not thread-safe; keeps tables and some memory from record to record.
///
/// Every function checks that the payload is an image of the record's size, reads nothing outside the record's bytes,
/// and returns `damaged` or `truncated` with a reason where they make no image; then pixels may have been written, and
/// are unspecified. A record whose index is of an unknown version is decoded without it. Memory is bounded by the
/// record's width and height, whatever its payload says: two rows of MCUs with an index; one image for zstd; up to 16
/// bytes a pixel and 64 MiB otherwise.
class ImageDecoder {
 public:
  using OtherDecoder = ImageResult (*)(std::span<const std::byte> file, Codec codec, std::uint64_t max_pixels,
                                       RgbImage& out);
  /// `other` decodes what is neither JPEG nor raw; without one such records are `unsupported`. Records of more than
  /// `max_pixels` are `too_large`.
  explicit ImageDecoder(OtherDecoder other, std::uint64_t max_pixels = kDefaultMaxPixels);
  ~ImageDecoder();
  ImageDecoder(ImageDecoder&&) noexcept;
  ImageDecoder& operator=(ImageDecoder&&) noexcept;

  /// The pixels of `crop`, as rows or into `out`. REQUIRES: `out` has the crop's size. Throws invalid_argument if the
  /// crop does not lie in the image, std::bad_alloc, and what `rows` throws.
  ImageResult decode(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop, RowSink& rows);
  ImageResult decode(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop, RgbView out);
  /// The whole image.
  ImageResult decode(const RecordMeta& meta, const RecordBytes& bytes, RgbImage& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack
