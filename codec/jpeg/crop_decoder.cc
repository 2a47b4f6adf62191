#include "codec/jpeg/crop_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "codec/jpeg/mcu_row_decoder.h"
#include "codec/jpeg/row_maker.h"

namespace imgpack::jpeg {

struct CropDecoder::State {
  HuffmanCache cache;
  std::array<SampleRows, kMaxComponents> samples;
  McuRowDecoder mcu_rows;
  RowMaker row_maker;
  ByteBuffer strip;
};

CropDecoder::CropDecoder() : state_(std::make_unique<State>()) {}
CropDecoder::~CropDecoder() = default;
CropDecoder::CropDecoder(CropDecoder&&) noexcept = default;
CropDecoder& CropDecoder::operator=(CropDecoder&&) noexcept = default;

namespace {

/// Decodes row after row of MCUs, and has each pixel row made as soon as its samples are there. `make(y, end)` makes
/// the pixel rows [y, end) of the image.
template <class Make>
DecodeReport decode_rows(const SegmentIndex& index, const CropPlan& plan, const Rect& crop, McuRowDecoder& mcu_rows,
                         RowMaker& row_maker, Make make) {
  DecodeReport report;
  const std::uint32_t bottom = crop.y + crop.height;
  bool wait_for_next = false;
  for (std::uint32_t c = 0; c < index.frame.component_count; ++c) {
    wait_for_next = wait_for_next || plan.components[c].needs_rows_beside();
  }
  std::uint32_t y = crop.y;
  for (std::uint32_t row = plan.rows.first; row < plan.rows.end; ++row) {
    mcu_rows.decode(row, report);
    row_maker.extend_edges(row);
    std::uint32_t end = bottom;
    if (row + 1 < plan.rows.end) {
      end = std::min(bottom, (row + 1) * index.frame.mcu_height() - (wait_for_next ? 1 : 0));
    }
    if (end > y) make(y, end);
    y = std::max(y, end);
  }
  return report;
}

}  // namespace

DecodeReport CropDecoder::decode(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop,
                                 RgbView out) {
  State& state = *state_;
  const CropPlan plan = plan_crop(index.frame, crop);
  state.mcu_rows.start(file, index, plan, state.cache, state.samples);
  state.row_maker.start(index.frame, plan, crop, state.samples);
  return decode_rows(index, plan, crop, state.mcu_rows, state.row_maker, [&](std::uint32_t y, std::uint32_t end) {
    for (; y < end; ++y) state.row_maker.make(y, out.row(y - crop.y));
  });
}

DecodeReport CropDecoder::decode(std::span<const std::byte> file, const SegmentIndex& index, const Rect& crop,
                                 RowSink& rows) {
  State& state = *state_;
  const CropPlan plan = plan_crop(index.frame, crop);
  state.mcu_rows.start(file, index, plan, state.cache, state.samples);
  state.row_maker.start(index.frame, plan, crop, state.samples);
  const std::size_t stride = static_cast<std::size_t>(crop.width) * RgbImage::kChannels;
  // One row more than an MCU has: the one that had to wait for the samples below it.
  state.strip.resize(stride * (index.frame.mcu_height() + 1));
  auto* strip = reinterpret_cast<std::uint8_t*>(state.strip.data());
  return decode_rows(index, plan, crop, state.mcu_rows, state.row_maker, [&](std::uint32_t y, std::uint32_t end) {
    for (std::uint32_t i = 0; i < end - y; ++i) state.row_maker.make(y + i, strip + i * stride);
    rows.take(y - crop.y, {strip, crop.width, end - y, stride});
  });
}

}  // namespace imgpack::jpeg
