#include "tools/view/record_check.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "codec/jpeg/libjpeg.h"
#include "codec/jpeg/parser.h"
#include "codec/orientation.h"
#include "codec/other/other_image.h"
#include "tools/jpeg_kind.h"

namespace imgpack::tools {

namespace {

/// Chroma of gray photographs is not exactly zero in all files.
constexpr int kMostColour = 8;

/// Whether rows have colour; stops looking at the first pixel that has.
class ColourSink final : public RowSink {
 public:
  void take(std::uint32_t, ConstRgbView rows) override {
    for (std::uint32_t y = 0; y < rows.height && !coloured_; ++y) {
      const std::uint8_t* pixel = rows.row(y);
      for (std::uint32_t x = 0; x < rows.width && !coloured_; ++x, pixel += RgbImage::kChannels) {
        const auto [least, most] = std::minmax({pixel[0], pixel[1], pixel[2]});
        coloured_ = most - least > kMostColour;
      }
    }
  }
  bool coloured() const noexcept { return coloured_; }

 private:
  bool coloured_ = false;
};

}  // namespace

RecordChecker::RecordChecker(std::uint64_t max_pixels)
    : max_pixels_(max_pixels), decoder_(&decode_other_image, max_pixels) {}

/// `clean` becomes whether a JPEG's entropy-coded data are without fault.
std::string RecordChecker::why_unindexed(const RecordMeta& meta, const RecordBytes& bytes, bool& clean) {
  using jpeg::Indexability;
  if (meta.codec != Codec::jpeg) return fmt::format("no JPEG: {}", to_string(meta.codec));
  Indexability why = jpeg::parse(bytes.payload).indexability;
  if (why == Indexability::indexable) why = index_builder_.build(bytes.payload, {}, buffer_);
  if (why == Indexability::indexable) return "none was made";
  // libjpeg-turbo judges what our own decoder has no words for.
  const ImageResult judged = transcode_jpeg(bytes.payload, max_pixels_, {}, buffer_);
  clean = judged.status == ImageStatus::ok || judged.status == ImageStatus::unsupported;
  buffer_.trim(RgbImage::kMostKept);
  return std::string(to_string(why));
}

RecordCheck RecordChecker::check(const RecordMeta& meta, const RecordBytes& bytes) {
  RecordCheck result;
  if (record_checksum(bytes.payload, bytes.segments) != meta.checksum) {
    result.damage = "its bytes do not have the checksum that was stored";
    return result;
  }
  result.whole = true;
  ColourSink sink;
  ImageResult decoded = check_image_size(meta, max_pixels_);
  if (decoded.ok()) decoded = decoder_.decode(meta, bytes, {0, 0, meta.width, meta.height}, sink);
  const bool beyond_us = decoded.status == ImageStatus::too_large || decoded.status == ImageStatus::unsupported;
  if (beyond_us) {
    result.not_decoded = std::move(decoded.reason);
  } else if (!decoded.ok()) {
    result.damage = "it does not decode: " + decoded.reason;
  } else {
    result.gray = !sink.coloured();
  }
  if (meta.codec == Codec::jpeg) result.jpeg_kind = jpeg_kind(bytes.payload);
  result.orientation = exif_orientation(bytes.payload, meta.codec);
  if (decode_path(meta) == DecodePath::indexed_jpeg) return result;
  bool clean = true;
  result.unindexed = beyond_us && meta.codec == Codec::jpeg ? "it was not decoded" : why_unindexed(meta, bytes, clean);
  if (!clean && result.damage.empty()) {
    result.incomplete = "its JPEG data break off or are damaged before the image ends; decoders make the rest up";
  }
  return result;
}

}  // namespace imgpack::tools
