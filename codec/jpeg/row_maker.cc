#include "codec/jpeg/row_maker.h"

#include "codec/jpeg/kernels.h"

namespace imgpack::jpeg {

void RowMaker::start(const Frame& frame, const CropPlan& plan, const Rect& crop,
                     std::array<SampleRows, kMaxComponents>& samples) {
  frame_ = frame;
  plan_ = plan;
  crop_ = crop;
  samples_ = &samples;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    if (plan.components[c].upsampling == Upsampling::none) continue;
    upsampled_[c].resize(static_cast<std::size_t>(crop.width) + 2 * plan.components[c].step_h + kRowSlack);
  }
}

void RowMaker::extend_edges(std::uint32_t mcu_row) {
  for (std::uint32_t c = 0; c < frame_.component_count; ++c) {
    const ComponentPlan& component = plan_.components[c];
    if (!component.needs_columns_beside()) continue;
    SampleRows& samples = (*samples_)[c];
    const std::uint32_t rows = frame_.components[c].v * kBlockSize;
    const bool at_left = samples.first() == 0;
    const bool at_right = samples.end() >= component.width;
    for (std::uint32_t y = mcu_row * rows; y < (mcu_row + 1) * rows; ++y) {
      if (at_left) *(samples.at(0, y) - 1) = *samples.at(0, y);
      if (at_right) *samples.at(component.width, y) = *samples.at(component.width - 1, y);
    }
  }
}

const std::uint8_t* RowMaker::full_row(std::uint32_t c, std::uint32_t y) {
  const ComponentPlan& component = plan_.components[c];
  SampleRows& samples = (*samples_)[c];
  const std::uint32_t first = crop_.x / component.step_h;
  const std::uint8_t* near = samples.at(first, y / component.step_v);
  const std::size_t count = (crop_.x + crop_.width - 1) / component.step_h + 1 - first;
  auto* out = reinterpret_cast<std::uint8_t*>(upsampled_[c].data());
  const std::uint8_t* from_crop = out + crop_.x % component.step_h;
  switch (component.upsampling) {
    case Upsampling::none:
      return near;
    case Upsampling::h2:
      upsample_row_h2(near, count, out);
      return from_crop;
    case Upsampling::v2:
      upsample_row_v2(near, samples.at(first, component.row_beside(y)), y % 2 == 0, count, out);
      return from_crop;
    case Upsampling::h2v2:
      upsample_row_h2v2(near, samples.at(first, component.row_beside(y)), count, out);
      return from_crop;
    case Upsampling::replicate:
      if (component.step_h == 1) return near;
      replicate_row(near, component.step_h, count, out);
      return from_crop;
  }
  return near;
}

void RowMaker::make(std::uint32_t y, std::uint8_t* rgb) {
  const std::uint8_t* first = full_row(0, y);
  if (frame_.color == ColorModel::gray) return interleave_row(first, first, first, crop_.width, rgb);
  const std::uint8_t* second = full_row(1, y);
  const std::uint8_t* third = full_row(2, y);
  if (frame_.color == ColorModel::rgb) return interleave_row(first, second, third, crop_.width, rgb);
  ycc_row_to_rgb(first, second, third, crop_.width, rgb);
}

}  // namespace imgpack::jpeg
