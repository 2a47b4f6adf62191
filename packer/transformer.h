// Makes of a source's entry what is stored: the file's bytes with a segment index, rewritten JPEGs, resized and
// re-encoded images, raw pixels.
//
// Copies of an image on its way: a kept file's bytes are stored from where the source has them. Pixels are made row by
// row; resizing takes the rows as they are decoded, and its result is the raw payload itself. Only images that EXIF
// turns and images other than JPEG are held whole before they are resized.
#pragma once

#include <cstdint>
#include <string>

#include "codec/decode.h"
#include "codec/jpeg/index_builder.h"
#include "codec/resize/resizer.h"
#include "imgpack/transform.h"
#include "packer/prepared_entry.h"
#include "packer/resize_plan.h"

namespace imgpack {

/// Not thread-safe.
class Transformer {
 public:
  Transformer(const Transform& transform, std::uint64_t max_pixels);

  /// `entry` is a record with its source's bytes and what is known of them; what is to be stored replaces them, in
  /// buffers of the entry's. Returns why it can't be done, or nothing. The same result for the same bytes. Throws
  /// std::bad_alloc, and io if libzstd or libjpeg-turbo fails to compress.
  std::string apply(PreparedEntry& entry);

 private:
  std::string keep(PreparedEntry& entry);
  std::string encode(PreparedEntry& entry, const ResizePlan& plan, int orientation);
  std::string decode(PreparedEntry& entry, const ResizePlan& plan, int orientation);
  void rewrite_jpeg(PreparedEntry& entry);
  bool add_index(PreparedEntry& entry);
  void store_pixels(PreparedEntry& entry);
  void store_jpeg(PreparedEntry& entry);

  Transform transform_;
  std::uint64_t max_pixels_;
  ImageDecoder decoder_;
  Resizer resizer_;
  jpeg::IndexBuilder index_builder_;
  RgbImage whole_;   ///< an image before it is turned
  RgbImage turned_;  ///< or before it is resized
};

}  // namespace imgpack
