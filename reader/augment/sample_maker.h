// From a record's bytes to its place in a batch, as a plan says.
//
// Rows go from the decoder through what is to be done with them without an image in between, where nothing needs to see
// a whole image: a crop is converted row by row as it is decoded, a resize takes rows as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/decode.h"
#include "codec/image_result.h"
#include "imgpack/record.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/sample_plan.h"

namespace imgpack {

/// Not thread-safe; keeps memory and tables from image to image. Memory: what ImageDecoder says; images of two stages;
/// a few rows.
class SampleMaker {
 public:
  /// `other` and `max_pixels` as for ImageDecoder.
  SampleMaker(const PixelFormat& format, ImageDecoder::OtherDecoder other,
              std::uint64_t max_pixels = kDefaultMaxPixels);
  ~SampleMaker();
  SampleMaker(SampleMaker&&) noexcept;
  SampleMaker& operator=(SampleMaker&&) noexcept;

  /// Writes the image at `out`: plan.size() pixels of 3 values in the format's dtype and layout, without gaps. Returns
  /// what is wrong with a record that makes no image; `out` is unspecified then. REQUIRES: the plan was made for an
  /// image of meta.width x meta.height, by an Augmenter of this format; `out` is aligned to the dtype. Throws
  /// std::bad_alloc.
  ImageResult make(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan, std::byte* out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes of one image of that format.
std::size_t image_bytes(Size size, DType dtype) noexcept;

}  // namespace imgpack
