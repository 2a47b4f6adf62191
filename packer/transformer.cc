#include "packer/transformer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codec/jpeg/frame.h"
#include "codec/jpeg/libjpeg.h"
#include "codec/jpeg/parser.h"
#include "codec/jpeg/restart_interval.h"
#include "codec/orientation.h"
#include "codec/other/other_image.h"
#include "codec/raw.h"

namespace imgpack {

namespace {

using jpeg::Indexability;

/// Whether rewriting a file's entropy coding would make it indexable.
bool is_rewritable(Indexability indexability) {
  return indexability == Indexability::progressive || indexability == Indexability::arithmetic ||
         indexability == Indexability::multiple_scans;
}

bool is_raw(Codec codec) {
  return codec == Codec::raw_rgb8 || codec == Codec::raw_rgb8_zstd;
}

std::uint32_t restart_interval(std::uint32_t width, Subsampling subsampling) {
  const std::uint32_t mcu_width = subsampling == Subsampling::s444 ? 8 : 16;
  const std::uint32_t blocks = subsampling == Subsampling::s444 ? 3 : subsampling == Subsampling::s422 ? 4 : 6;
  return choose_restart_interval((width + mcu_width - 1) / mcu_width, blocks);
}

Size size_of(const RecordMeta& meta) {
  return {meta.width, meta.height};
}

}  // namespace

Transformer::Transformer(const Transform& transform, std::uint64_t max_pixels)
    : transform_(transform), max_pixels_(max_pixels), decoder_(&decode_other_image, max_pixels) {}

std::string Transformer::apply(PreparedEntry& entry) {
  if (transform_.encode == Encode::keep) return keep(entry);
  const int orientation =
      transform_.apply_exif_orientation ? exif_orientation(entry.bytes.payload, entry.meta.codec) : 1;
  const bool on_its_side = orientation >= 5;
  const Size upright = on_its_side ? Size{entry.meta.height, entry.meta.width} : size_of(entry.meta);
  std::variant<ResizePlan, std::string> planned = plan_resize(upright, transform_);
  if (auto* reason = std::get_if<std::string>(&planned)) return std::move(*reason);
  const ResizePlan& plan = std::get<ResizePlan>(planned);
  if (std::uint64_t{plan.kept.width} * plan.kept.height > max_pixels_) {
    return fmt::format("it would get {}x{} pixels, more than the limit of {}", plan.kept.width, plan.kept.height,
                       max_pixels_);
  }
  return encode(entry, plan, orientation);
}

std::string Transformer::keep(PreparedEntry& entry) {
  bool gpu_decodes = is_raw(entry.meta.codec);
  if (entry.meta.codec == Codec::jpeg) {
    if (transform_.jpeg != JpegHandling::keep) rewrite_jpeg(entry);
    gpu_decodes = add_index(entry);
  }
  if (!gpu_decodes && transform_.normalize) {
    if (std::string reason = decode(entry, std::get<ResizePlan>(plan_resize(size_of(entry.meta), transform_)), 1);
        !reason.empty()) {
      return reason;
    }
    store_pixels(entry);
  }
  return {};
}

std::string Transformer::encode(PreparedEntry& entry, const ResizePlan& plan, int orientation) {
  const bool same_pixels = orientation == 1 && !plan.changes(size_of(entry.meta));
  if (transform_.encode == Encode::jpeg) {
    const bool plain_jpeg = entry.meta.codec == Codec::jpeg && entry.meta.channels != 4;
    if (plain_jpeg && same_pixels && !transform_.quality && !transform_.subsampling) return keep(entry);
    if (std::max(plan.kept.width, plan.kept.height) > jpeg::kMaxSide) {
      return fmt::format("it would be {}x{} pixels, and no side of a JPEG has more than {}", plan.kept.width,
                         plan.kept.height, jpeg::kMaxSide);
    }
  }
  if (std::string reason = decode(entry, plan, orientation); !reason.empty()) return reason;
  if (transform_.encode == Encode::raw) {
    store_pixels(entry);
  } else {
    store_jpeg(entry);
  }
  return {};
}

/// Into entry.pixels.
std::string Transformer::decode(PreparedEntry& entry, const ResizePlan& plan, int orientation) {
  const RecordBytes bytes{entry.bytes.payload, entry.bytes.segments};
  const Rect all{0, 0, entry.meta.width, entry.meta.height};
  const bool resizes = plan.changes(orientation >= 5 ? Size{entry.meta.height, entry.meta.width} : size_of(entry.meta));
  if (orientation == 1 && !resizes) return decoder_.decode(entry.meta, bytes, entry.pixels).reason;

  const RgbView out = entry.pixels.resize({plan.kept.width, plan.kept.height});
  ResizeOptions options{.source = size_of(entry.meta),
                        .box = whole(size_of(entry.meta)),
                        .interpolation = transform_.interpolation,
                        .result = plan.scaled,
                        .left = plan.kept.x,
                        .top = plan.kept.y};
  if (orientation == 1) {
    resizer_.start(options, out);
    return decoder_.decode(entry.meta, bytes, all, resizer_).reason;
  }
  if (ImageResult result = decoder_.decode(entry.meta, bytes, whole_); !result.ok()) return result.reason;
  apply_orientation(std::as_const(whole_).view(), orientation, resizes ? turned_ : entry.pixels);
  whole_.trim(RgbImage::kMostKept);
  if (!resizes) return {};
  options.source = turned_.size();
  options.box = whole(turned_.size());
  resizer_.start(options, out);
  resizer_.take(0, std::as_const(turned_).view());
  turned_.trim(RgbImage::kMostKept);
  return {};
}

/// Leaves the file as it is where libjpeg-turbo has doubts about it: its bytes are what is certain.
void Transformer::rewrite_jpeg(PreparedEntry& entry) {
  const Indexability indexability = jpeg::parse(entry.bytes.payload).indexability;
  const bool restart = transform_.jpeg == JpegHandling::restart;
  if (!is_rewritable(indexability) && !(restart && indexability == Indexability::indexable)) return;
  const TranscodeOptions options{.restart_markers = restart};
  if (!transcode_jpeg(entry.bytes.payload, max_pixels_, options, entry.payload).ok()) return;
  entry.bytes = {entry.payload.bytes(), {}};
}

/// Whether the file has an index, or could have.
bool Transformer::add_index(PreparedEntry& entry) {
  if (!entry.bytes.segments.empty() && transform_.index) return true;
  entry.bytes.segments = {};
  if (!transform_.index && !transform_.normalize) return true;  // nobody asks
  const Indexability indexability = index_builder_.build(entry.bytes.payload, {}, entry.segments);
  if (indexability != Indexability::indexable) return false;
  if (transform_.index) entry.bytes.segments = entry.segments.bytes();
  return true;
}

void Transformer::store_pixels(PreparedEntry& entry) {
  entry.meta.width = entry.pixels.size().width;
  entry.meta.height = entry.pixels.size().height;
  entry.meta.channels = RgbImage::kChannels;
  entry.meta.codec = Codec::raw_rgb8;
  entry.bytes = {entry.pixels.bytes(), {}};
  if (!transform_.zstd_level) return;
  compress_zstd(entry.pixels.bytes(), *transform_.zstd_level, entry.payload);
  entry.meta.codec = Codec::raw_rgb8_zstd;
  entry.bytes.payload = entry.payload.bytes();
}

void Transformer::store_jpeg(PreparedEntry& entry) {
  entry.meta.width = entry.pixels.size().width;
  entry.meta.height = entry.pixels.size().height;
  entry.meta.channels = RgbImage::kChannels;
  entry.meta.codec = Codec::jpeg;
  const Subsampling subsampling = transform_.subsampling.value_or(Transform::kDefaultSubsampling);
  encode_jpeg(std::as_const(entry.pixels).view(), transform_.quality.value_or(Transform::kDefaultQuality), subsampling,
              transform_.jpeg == JpegHandling::restart ? restart_interval(entry.meta.width, subsampling) : 0,
              entry.payload);
  entry.bytes = {entry.payload.bytes(), {}};
  add_index(entry);
}

}  // namespace imgpack
