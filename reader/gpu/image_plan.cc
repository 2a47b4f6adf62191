#include "reader/gpu/image_plan.h"

#include <algorithm>

#include "codec/decode.h"

namespace imgpack::gpu {

namespace {

constexpr std::size_t kChannels = 3;

/// A raw record's stage that needs no scratch memory.
bool is_plain(const SamplePlan& plan) {
  return plan.stages.size() == 1 && !plan.stages.front().resizes() && plan.stages.front().colors.empty();
}

std::size_t row_bytes(const RecordMeta& meta) {
  return std::size_t{meta.width} * kChannels;
}

void plan_stages(const SamplePlan& plan, ImagePlan& image) {
  image.stages.resize(plan.stages.size());
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    plan_stage(plan.stages[i], image.stages[i]);
    if (plan.stages[i].colors.empty()) continue;
    image.colors.resize(plan.stages.size());
    image.colors[i] = plan.stages[i].colors;
  }
}

bool plan_pixels(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan, ImagePlan& image) {
  if (bytes.payload.size() != row_bytes(meta) * meta.height) return false;
  if (is_plain(plan)) {
    const PlanStage& stage = plan.stages.front();
    const Rect& crop = stage.crop;
    image.path = ImagePath::copied;
    image.raw = {.source = nullptr,
                 .source_stride = row_bytes(meta),
                 .crop = {crop.width, crop.height},
                 .canvas = stage.canvas,
                 .flip = stage.flip,
                 .out = nullptr};
    image.pixels = bytes.payload.subspan(crop.y * row_bytes(meta) + crop.x * kChannels,
                                         (crop.height - 1) * row_bytes(meta) + crop.width * kChannels);
    return true;
  }
  plan_stages(plan, image);
  const Rect part = source_part(image.stages.front());
  image.path = ImagePath::pixels;
  image.pixel_row = part.y;
  image.pixels = bytes.payload.subspan(part.y * row_bytes(meta), part.height * row_bytes(meta));
  image.stages.front().rgb_stride = row_bytes(meta);
  return true;
}

bool plan_decoded(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan, ImagePlan& image,
                  JpegTask& jpeg) {
  plan_stages(plan, image);
  const Rect part = source_part(image.stages.front());
  if (part.width == 0 || part.height == 0) return false;  // nothing of it shows: not worth a case of its own
  JpegBytes needed;
  if (!plan_jpeg(meta, bytes, part, jpeg, needed)) return false;
  image.path = ImagePath::jpeg;
  image.entries = needed.entries;
  image.scan = needed.scan;
  return true;
}

/// The segments without stuffing: for each its bytes, rounded to 16 at both ends.
std::size_t stream_bytes(const JpegTask& jpeg) {
  return (jpeg.scan_end - jpeg.scan_begin) + 32 * (std::size_t{jpeg.segments()} + 2);
}

void place_jpeg(JpegTask& jpeg, const ImagePlan& image, std::byte* streams, ImageScratch scratch) {
  jpeg.infos = scratch.general.take<SegmentInfo>(jpeg.segments());
  jpeg.streams = reinterpret_cast<std::uint8_t*>(streams);
  jpeg.coefficients = scratch.coefficients.take<std::int16_t>(std::size_t{jpeg.blocks()} * jpeg::kBlockCoefficients);
  const jpeg::Frame& frame = jpeg.index.frame;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const std::size_t rows = std::size_t{jpeg.rows()} * frame.components[c].v * jpeg::kBlockSize;
    jpeg.planes[c].samples = scratch.general.take<std::uint8_t>(jpeg.planes[c].stride * rows);
  }
  jpeg.index.entries = reinterpret_cast<const std::uint8_t*>(image.entries.data());
  jpeg.scan =
      reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(image.scan.data()) - jpeg.scan_begin);
}

std::size_t between_bytes(const StageTask& stage) {
  return std::size_t{stage.row_end - stage.row_begin} * stage.columns.request.kept * sizeof(std::uint32_t);
}

void place_stage(StageTask& stage, std::byte* between, Carver& general) {
  stage.columns.numbers = general.take<std::uint32_t>(stage.columns.size());
  stage.rows.numbers = general.take<std::uint32_t>(stage.rows.size());
  stage.between = reinterpret_cast<std::uint32_t*>(between);
}

/// What place_image() would take. Afterwards the image has addresses that mean nothing.
ScratchBytes count_scratch(ImagePlan& image, JpegTask& jpeg) {
  Carver general;
  Carver coefficients;
  place_image(image, jpeg, 0, {general, coefficients}, nullptr);
  return {general.used(), coefficients.used()};
}

}  // namespace

void ImagePlan::clear() noexcept {
  path = ImagePath::none;
  segments = 0;
  scratch = {};
  stages.clear();
  colors.clear();
  erasings.clear();
  host_image = nullptr;
  on_device = false;
}

void plan_image(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan, ImagePlan& image,
                JpegTask& jpeg) {
  image.clear();
  bool planned = false;
  switch (decode_path(meta)) {
    case DecodePath::indexed_jpeg:
      planned = plan_decoded(meta, bytes, plan, image, jpeg);
      break;
    case DecodePath::raw:
      planned = plan_pixels(meta, bytes, plan, image);
      break;
    default:
      break;
  }
  if (planned) {
    image.erasings = plan.erasings;
    image.segments = image.path == ImagePath::jpeg ? jpeg.segments() : 0;
    image.scratch = count_scratch(image, jpeg);
  } else {
    image.clear();
    image.path = ImagePath::host;
  }
}

void place_image(ImagePlan& image, JpegTask& jpeg, std::uint32_t jpeg_number, ImageScratch scratch, std::byte* out) {
  std::byte* early = nullptr;  // for streams, and when all segments are decoded for the first stage's pixels
  if (image.path == ImagePath::jpeg) {
    early = scratch.general.take<std::byte>(std::max(stream_bytes(jpeg), between_bytes(image.stages.front())));
    place_jpeg(jpeg, image, early, scratch);
    image.stages.front().jpeg = jpeg_number;
  } else if (image.path == ImagePath::pixels) {
    image.stages.front().rgb = reinterpret_cast<const std::uint8_t*>(
        reinterpret_cast<std::uintptr_t>(image.pixels.data()) - image.pixel_row * image.stages.front().rgb_stride);
  }
  for (std::size_t i = 0; i < image.stages.size(); ++i) {
    StageTask& stage = image.stages[i];
    const bool shares = i == 0 && image.path == ImagePath::jpeg;
    place_stage(stage, shares ? early : scratch.general.take<std::byte>(between_bytes(stage)), scratch.general);
    const bool last = i + 1 == image.stages.size();
    const bool needs_canvas = !last || image.has_colors(i);
    stage.canvas = needs_canvas
                       ? scratch.general.take<std::uint8_t>(std::size_t{stage.width} * stage.height * kChannels)
                       : nullptr;
    stage.out = last ? out : nullptr;
    if (last) break;
    image.stages[i + 1].rgb = stage.canvas;
    image.stages[i + 1].rgb_stride = std::size_t{stage.width} * kChannels;
  }
}

}  // namespace imgpack::gpu
