// What is in a JPEG's application segments, as far as it decides whether Pillow 9.4 opens the file.
//
// Pillow looks into some segments while it opens a file and gives up where it stumbles. Most damage in there it
// tolerates; each function names what it does not.
#pragma once

#include <optional>

#include "codec/headers/headers.h"

namespace imgpack::headers {

/// Collects what segments say to each other. One object a file, segments in file order.
class JpegMetadata {
 public:
  /// `marker` is 0xE0 to 0xEF, `body` the segment without its length.
  std::optional<Refusal> visit(std::uint8_t marker, Bytes body);
  /// Called at a frame header, which is where the pieces of a colour profile are put together.
  std::optional<Refusal> finish_profile();
  /// Called at the end of the header.
  std::optional<Refusal> check_multi_picture_index() const;

 private:
  std::optional<Refusal> visit_jfif(Bytes body);
  std::optional<Refusal> check_density();
  void add_profile_piece(Bytes body);

  bool density_known_ = false;
  std::optional<Bytes> exif_;           ///< the first Exif segment
  std::optional<Bytes> first_profile_;  ///< the beginning of the piece that sorts first
  std::optional<Bytes> multi_picture_;  ///< the last MPF segment behind its name
};

}  // namespace imgpack::headers
