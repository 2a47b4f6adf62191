#include "reader/augment/sample_maker.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/resize/resizer.h"
#include "reader/augment/color_ops.h"
#include "reader/augment/convert_kernels.h"
#include "reader/augment/erasing.h"
#include "reader/augment/pixel_converter.h"

namespace imgpack {

namespace {

constexpr std::size_t kChannels = RgbImage::kChannels;

ConstRgbView cut(ConstRgbView image, const Rect& part) {
  return {image.row(part.y) + part.x * kChannels, part.width, part.height, image.stride};
}
RgbView cut(RgbView image, const Rect& part) {
  return {image.row(part.y) + part.x * kChannels, part.width, part.height, image.stride};
}

/// Where a stage's pixels come from: a record, or what the stage before made.
class StageSource {
 public:
  StageSource(ImageDecoder& decoder, const RecordMeta& meta, const RecordBytes& bytes)
      : decoder_(decoder), meta_(meta), bytes_(bytes) {}
  void set(ConstRgbView image) { image_ = image; }

  /// `out` is a RowSink or an RgbView.
  template <class Out>
  ImageResult read(const Rect& part, Out&& out) {
    if (!image_) return decoder_.decode(meta_, bytes_, part, out);
    hand(cut(*image_, part), out);
    return {};
  }

 private:
  static void hand(ConstRgbView rows, RowSink& out) { out.take(0, rows); }
  static void hand(ConstRgbView rows, RgbView out) { CopyRows(out).take(0, rows); }

  ImageDecoder& decoder_;
  const RecordMeta& meta_;
  const RecordBytes& bytes_;
  std::optional<ConstRgbView> image_;
};

/// Asks for a row that is soon to be read from right to left, or with a gap behind it, which processors do not foresee.
void prefetch_row(ConstRgbView rows, std::uint32_t y) {
  constexpr std::size_t kCacheLine = 64;
  if (y >= rows.height) return;
  for (std::size_t at = 0; at < rows.width * kChannels; at += kCacheLine) __builtin_prefetch(rows.row(y) + at);
}

/// Rows into their place in the batch.
class ConvertRows final : public RowSink {
 public:
  ConvertRows(PixelConverter& converter, Size size, bool flip, std::byte* out)
      : converter_(converter), size_(size), flip_(flip), out_(out) {}
  void take(std::uint32_t y, ConstRgbView rows) override {
    for (std::uint32_t i = 0; i < rows.height; ++i) {
      prefetch_row(rows, i + 2);
      converter_.convert_row(rows.row(i), size_, y + i, flip_, out_);
    }
  }

 private:
  PixelConverter& converter_;
  Size size_;
  bool flip_;
  std::byte* out_;
};

/// Hands rows on with a number that counts from elsewhere.
class ShiftedRows final : public RowSink {
 public:
  ShiftedRows(RowSink& rows, std::uint32_t first) : rows_(rows), first_(first) {}
  void take(std::uint32_t y, ConstRgbView rows) override { rows_.take(first_ + y, rows); }

 private:
  RowSink& rows_;
  std::uint32_t first_;
};

/// The part of the canvas that shows the image, or nothing.
std::optional<Rect> visible(const Canvas& canvas, Size image) {
  const auto overlap = [](std::int64_t begin, std::int64_t length, std::int64_t size) {
    const std::int64_t first = std::max<std::int64_t>(0, -begin);
    return std::pair(first, std::min(length, size - begin) - first);
  };
  const auto [x, width] = overlap(canvas.left, canvas.size.width, image.width);
  const auto [y, height] = overlap(canvas.top, canvas.size.height, image.height);
  if (width <= 0 || height <= 0) return std::nullopt;
  return Rect{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(width),
              static_cast<std::uint32_t>(height)};
}

void fill(RgbView image, const std::array<std::uint8_t, 3>& color) {
  for (std::uint32_t x = 0; x < image.width; ++x) std::memcpy(image.row(0) + x * kChannels, color.data(), kChannels);
  for (std::uint32_t y = 1; y < image.height; ++y) std::memcpy(image.row(y), image.row(0), image.width * kChannels);
}

void flip_in_place(RgbView image, std::vector<std::uint8_t>& scratch) {
  scratch.resize(image.width * kChannels);
  for (std::uint32_t y = 0; y < image.height; ++y) {
    std::memcpy(scratch.data(), image.row(y), scratch.size());
    flip_row(scratch.data(), image.width, image.row(y));
  }
}

}  // namespace

struct SampleMaker::State {
  State(const PixelFormat& wanted, ImageDecoder::OtherDecoder other, std::uint64_t max_pixels)
      : format(wanted), decoder(other, max_pixels), converter(wanted) {}

  PixelFormat format;
  ImageDecoder decoder;
  PixelConverter converter;
  Resizer resizer;
  RgbImage images[2];  ///< what stages make, in turn
  std::vector<std::uint8_t> row;

  bool is_plain_copy(const PlanStage& stage) const {
    return format.dtype == DType::u8 && format.layout == Layout::nhwc && !stage.flip;
  }
  ImageResult draw(StageSource& source, const PlanStage& stage, RgbView canvas);
  ImageResult resize(StageSource& source, const PlanStage& stage, const Rect& shown, RgbView out);
  ImageResult run_last(StageSource& source, const PlanStage& stage, RgbImage& image, std::byte* out);
};

/// The shown part of the resized crop. Only what it depends on is decoded.
ImageResult SampleMaker::State::resize(StageSource& source, const PlanStage& stage, const Rect& shown, RgbView out) {
  const Rect& crop = stage.crop;
  const Size size = {crop.width, crop.height};
  resizer.start({.source = size,
                 .box = whole(size),
                 .interpolation = stage.interpolation,
                 .result = stage.scaled,
                 .left = shown.x,
                 .top = shown.y,
                 .needed_columns_only = true},
                out);
  const Rect part = {crop.x + resizer.first_column(), crop.y + resizer.first_row(),
                     resizer.end_column() - resizer.first_column(), resizer.end_row() - resizer.first_row()};
  ShiftedRows rows(resizer, resizer.first_row());
  return source.read(part, static_cast<RowSink&>(rows));
}

/// Crop, resize and canvas of a stage into `canvas`.
ImageResult SampleMaker::State::draw(StageSource& source, const PlanStage& stage, RgbView canvas) {
  if (stage.pads()) fill(canvas, stage.canvas.fill);
  const std::optional<Rect> place = visible(stage.canvas, stage.scaled);
  if (!place) return {};
  const Rect shown = {static_cast<std::uint32_t>(stage.canvas.left + static_cast<std::int64_t>(place->x)),
                      static_cast<std::uint32_t>(stage.canvas.top + static_cast<std::int64_t>(place->y)), place->width,
                      place->height};
  if (stage.resizes()) return resize(source, stage, shown, cut(canvas, *place));
  return source.read({stage.crop.x + shown.x, stage.crop.y + shown.y, shown.width, shown.height}, cut(canvas, *place));
}

/// The stage that ends in the batch.
ImageResult SampleMaker::State::run_last(StageSource& source, const PlanStage& stage, RgbImage& image, std::byte* out) {
  const Size size = stage.canvas.size;
  ConvertRows converted(converter, size, stage.flip, out);
  const bool plain_copy = is_plain_copy(stage);
  if (!plain_copy && !stage.resizes() && !stage.pads() && stage.colors.empty()) {
    return source.read(stage.crop, static_cast<RowSink&>(converted));
  }
  const RgbView canvas =
      plain_copy ? RgbView{reinterpret_cast<std::uint8_t*>(out), size.width, size.height, size.width * kChannels}
                 : image.resize(size);
  ImageResult result = draw(source, stage, canvas);
  if (!result.ok()) return result;
  for (const ColorOp& op : stage.colors) apply_color(op, canvas);
  if (!plain_copy) converted.take(0, canvas);
  return result;
}

SampleMaker::SampleMaker(const PixelFormat& format, ImageDecoder::OtherDecoder other, std::uint64_t max_pixels)
    : state_(std::make_unique<State>(format, other, max_pixels)) {}
SampleMaker::~SampleMaker() = default;
SampleMaker::SampleMaker(SampleMaker&&) noexcept = default;
SampleMaker& SampleMaker::operator=(SampleMaker&&) noexcept = default;

ImageResult SampleMaker::make(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan,
                              std::byte* out) {
  State& state = *state_;
  StageSource source(state.decoder, meta, bytes);
  ImageResult result;
  for (std::size_t i = 0; i < plan.stages.size() && result.ok(); ++i) {
    const PlanStage& stage = plan.stages[i];
    RgbImage& image = state.images[i % 2];
    if (i + 1 == plan.stages.size()) {
      result = state.run_last(source, stage, image, out);
      break;
    }
    const RgbView canvas = image.resize(stage.canvas.size);
    result = state.draw(source, stage, canvas);
    if (!result.ok()) break;
    for (const ColorOp& op : stage.colors) apply_color(op, canvas);
    if (stage.flip) flip_in_place(canvas, state.row);
    source.set(canvas);
  }
  for (RgbImage& image : state.images) image.trim(RgbImage::kMostKept);
  if (!result.ok()) return result;
  for (const Erasing& erasing : plan.erasings) erase(erasing, state.format, plan.size(), out);
  return result;
}

std::size_t image_bytes(Size size, DType dtype) noexcept {
  return std::size_t{size.width} * size.height * RgbImage::kChannels * size_of(dtype);
}

}  // namespace imgpack
