#include "codec/decode.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/libjpeg.h"
#include "codec/raw.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

/// The bytes of more pixels than this could not be counted.
constexpr std::uint64_t kMostPixels = std::numeric_limits<std::ptrdiff_t>::max() / RgbImage::kChannels;

ImageResult damaged(std::string reason) {
  return {ImageStatus::damaged, std::move(reason)};
}

ConstRgbView cut(ConstRgbView image, const Rect& crop) {
  return {image.row(crop.y) + std::size_t{crop.x} * RgbImage::kChannels, crop.width, crop.height, image.stride};
}

/// Hands on what lies in the crop.
class CropRows final : public RowSink {
 public:
  CropRows(const Rect& crop, RowSink& rows) : crop_(crop), rows_(rows) {}

  void take(std::uint32_t y, ConstRgbView rows) override {
    width_ = rows.width;
    seen_ = y + rows.height;
    if (width_ < crop_.x + crop_.width) return;  // not the record's size, which the caller notices
    const std::uint32_t first = std::max(y, crop_.y);
    const std::uint32_t end = std::min(seen_, crop_.y + crop_.height);
    if (first >= end) return;
    rows_.take(first - crop_.y, cut(rows, {crop_.x, first - y, crop_.width, end - first}));
  }
  Size seen() const { return {width_, seen_}; }

 private:
  const Rect& crop_;
  RowSink& rows_;
  std::uint32_t width_ = 0;
  std::uint32_t seen_ = 0;
};

std::string size_mismatch(Size found, const RecordMeta& meta) {
  return fmt::format("its payload is {}x{} pixels, not {}x{} as its record says", found.width, found.height, meta.width,
                     meta.height);
}

std::uint64_t pixel_count(const RecordMeta& meta) {
  return std::uint64_t{meta.width} * meta.height;
}

/// For decoders that are allowed as many pixels as the record says: a payload with more is no fault of the limit, and
/// must not cost the memory that it asks for.
ImageResult beyond_record(ImageResult result, const RecordMeta& meta) {
  if (result.status != ImageStatus::too_large) return result;
  return damaged(
      fmt::format("its payload has more than the {}x{} pixels that its record says", meta.width, meta.height));
}

ImageResult report_of(const jpeg::DecodeReport& report) {
  if (report.ok()) return {};
  return damaged(fmt::format("{} of {} segments of its JPEG are damaged, the first is segment {}",
                             report.damaged_segments, report.segments, report.first_damaged));
}

}  // namespace

ImageResult check_image_size(const RecordMeta& meta, std::uint64_t max_pixels) {
  if (meta.width == 0 || meta.height == 0) return damaged("its record says that it has no pixels");
  const std::uint64_t most = std::min(max_pixels, kMostPixels);
  if (pixel_count(meta) <= most) return {};
  return {ImageStatus::too_large,
          fmt::format("{}x{} pixels are more than the limit of {}", meta.width, meta.height, most)};
}

DecodePath decode_path(const RecordMeta& meta) noexcept {
  switch (meta.codec) {
    case Codec::jpeg:
      return meta.segments_size != 0 ? DecodePath::indexed_jpeg : DecodePath::whole_jpeg;
    case Codec::raw_rgb8:
      return DecodePath::raw;
    case Codec::raw_rgb8_zstd:
      return DecodePath::raw_zstd;
    default:
      return DecodePath::other;
  }
}

struct ImageDecoder::State {
  OtherDecoder other = nullptr;
  std::uint64_t max_pixels = 0;
  jpeg::CropDecoder jpeg;
  ByteBuffer pixels;
  RgbImage image;

  ImageResult decode_pixels(const RecordMeta& meta, std::span<const std::byte> payload, const Rect& crop,
                            RowSink& rows);
  ImageResult decode_whole_jpeg(const RecordMeta& meta, std::span<const std::byte> payload, const Rect& crop,
                                RowSink& rows);
  ImageResult decode_other(const RecordMeta& meta, std::span<const std::byte> payload, const Rect& crop, RowSink& rows);
  /// `out` is a RowSink or an RgbView.
  template <class Out>
  ImageResult decode_jpeg(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop, Out&& out, RowSink& rows);
};

ImageResult ImageDecoder::State::decode_pixels(const RecordMeta& meta, std::span<const std::byte> payload,
                                               const Rect& crop, RowSink& rows) {
  const std::size_t stride = std::size_t{meta.width} * RgbImage::kChannels;
  const std::size_t size = stride * meta.height;
  if (meta.codec == Codec::raw_rgb8_zstd) {
    if (std::string reason = decompress_zstd(payload, size, pixels); !reason.empty()) return damaged(std::move(reason));
    payload = pixels.bytes();
  }
  if (payload.size() != size) {
    return damaged(fmt::format("its payload has {} bytes, not the {} of {}x{} pixels", payload.size(), size, meta.width,
                               meta.height));
  }
  const ConstRgbView all{reinterpret_cast<const std::uint8_t*>(payload.data()), meta.width, meta.height, stride};
  rows.take(0, cut(all, crop));
  pixels.trim(RgbImage::kMostKept);
  return {};
}

template <class Out>
ImageResult ImageDecoder::State::decode_jpeg(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop,
                                             Out&& out, RowSink& rows) {
  jpeg::SegmentIndex index;
  switch (jpeg::open_segment_index(bytes.segments, bytes.payload, index)) {
    case jpeg::IndexStatus::ok:
      if (index.frame.width != meta.width || index.frame.height != meta.height) {
        return damaged(size_mismatch({index.frame.width, index.frame.height}, meta));
      }
      return report_of(jpeg.decode(bytes.payload, index, crop, out));
    case jpeg::IndexStatus::damaged:
      return damaged("its segment index contradicts itself or its payload");
    default:
      return decode_whole_jpeg(meta, bytes.payload, crop, rows);
  }
}

ImageResult ImageDecoder::State::decode_whole_jpeg(const RecordMeta& meta, std::span<const std::byte> payload,
                                                   const Rect& crop, RowSink& rows) {
  CropRows cropped(crop, rows);
  ImageResult result = decode_jpeg_rows(payload, pixel_count(meta), cropped);
  if (!result.ok()) return beyond_record(std::move(result), meta);
  if (cropped.seen() != Size{meta.width, meta.height}) return damaged(size_mismatch(cropped.seen(), meta));
  return {};
}

ImageResult ImageDecoder::State::decode_other(const RecordMeta& meta, std::span<const std::byte> payload,
                                              const Rect& crop, RowSink& rows) {
  if (other == nullptr) {
    return {ImageStatus::unsupported,
            "there is no decoder for this type of image here; packing with --normalize makes it readable anywhere"};
  }
  ImageResult result = other(payload, meta.codec, pixel_count(meta), image);
  if (!result.ok()) {
    result = beyond_record(std::move(result), meta);
  } else if (image.size() != Size{meta.width, meta.height}) {
    result = damaged(size_mismatch(image.size(), meta));
  } else {
    rows.take(0, cut(std::as_const(image).view(), crop));
  }
  image.trim(RgbImage::kMostKept);
  return result;
}

ImageDecoder::ImageDecoder(OtherDecoder other, std::uint64_t max_pixels) : state_(std::make_unique<State>()) {
  state_->other = other;
  state_->max_pixels = max_pixels;
}
ImageDecoder::~ImageDecoder() = default;
ImageDecoder::ImageDecoder(ImageDecoder&&) noexcept = default;
ImageDecoder& ImageDecoder::operator=(ImageDecoder&&) noexcept = default;

namespace {

void check_crop(const RecordMeta& meta, const Rect& crop) {
  if (lies_in(crop, {meta.width, meta.height})) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("a crop of {}x{} pixels at {},{} does not lie in {}x{} pixels", crop.width, crop.height,
                          crop.x, crop.y, meta.width, meta.height));
}

}  // namespace

ImageResult ImageDecoder::decode(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop, RowSink& rows) {
  if (ImageResult size = check_image_size(meta, state_->max_pixels); !size.ok()) return size;
  check_crop(meta, crop);
  switch (meta.codec) {
    case Codec::jpeg:
      return state_->decode_jpeg(meta, bytes, crop, rows, rows);
    case Codec::raw_rgb8:
    case Codec::raw_rgb8_zstd:
      return state_->decode_pixels(meta, bytes.payload, crop, rows);
    default:
      return state_->decode_other(meta, bytes.payload, crop, rows);
  }
}

ImageResult ImageDecoder::decode(const RecordMeta& meta, const RecordBytes& bytes, const Rect& crop, RgbView out) {
  if (ImageResult size = check_image_size(meta, state_->max_pixels); !size.ok()) return size;
  check_crop(meta, crop);
  CopyRows rows(out);
  if (meta.codec == Codec::jpeg) return state_->decode_jpeg(meta, bytes, crop, out, rows);
  return decode(meta, bytes, crop, rows);
}

ImageResult ImageDecoder::decode(const RecordMeta& meta, const RecordBytes& bytes, RgbImage& out) {
  if (ImageResult size = check_image_size(meta, state_->max_pixels); !size.ok()) return size;
  return decode(meta, bytes, {0, 0, meta.width, meta.height}, out.resize({meta.width, meta.height}));
}

}  // namespace imgpack
