#include "codec/jpeg/mcu_row_decoder.h"

#include <algorithm>

namespace imgpack::jpeg {

namespace {

constexpr std::uint8_t kMiddleGray = 128;

void note_damage(std::uint32_t segment, DecodeReport& report) {
  if (report.damaged_segments++ == 0) report.first_damaged = segment;
}

}  // namespace

void McuRowDecoder::start(std::span<const std::byte> file, const SegmentIndex& index, const CropPlan& plan,
                          HuffmanCache& cache, std::array<SampleRows, kMaxComponents>& samples) {
  const Frame& frame = index.frame;
  scan_ = reinterpret_cast<const std::uint8_t*>(file.data()) + frame.scan_offset;
  index_ = &index;
  plan_ = plan;
  mcus_per_row_ = frame.mcus_per_row();
  samples_ = &samples;
  const bool begins_inside = plan.columns.first % index.segment_mcus != 0;
  tables_ = scan_tables(frame, file, begins_inside, cache);
  block_count_ = 0;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const Component& component = frame.components[c];
    dequantizers_[c] = dequantizer(component, file, kPairStride);
    const std::uint32_t samples_in_mcu = component.h * kBlockSize;
    samples[c].reset(plan.columns.first * samples_in_mcu, (plan.columns.end - plan.columns.first) * samples_in_mcu,
                     2 * component.v * kBlockSize);
    for (std::uint32_t b = 0; b < std::uint32_t{component.h} * component.v; ++b) {
      blocks_[block_count_++] = {tables_.dc[c], tables_.ac[c], &dequantizers_[c], c, b % component.h, b / component.h};
    }
  }
}

void McuRowDecoder::decode(std::uint32_t row, DecodeReport& report) {
  row_ = row;
  for (std::uint32_t c = 0; c < index_->frame.component_count; ++c) {
    SampleRows& samples = (*samples_)[c];
    row_samples_[c] = samples.at(samples.first(), row * index_->frame.components[c].v * kBlockSize);
  }
  const std::uint32_t segment_mcus = index_->segment_mcus;
  const std::uint32_t interval = index_->frame.restart_interval;
  std::uint32_t segment = row * index_->segments_per_row() + plan_.columns.first / segment_mcus;
  std::uint32_t column = plan_.columns.first;
  SegmentCursor cursor;
  bool in_step = false;  // the cursor stands at the beginning of `segment`
  while (column < plan_.columns.end) {
    ++report.segments;
    const std::uint32_t segment_end = std::min((column / segment_mcus + 1) * segment_mcus, mcus_per_row_);
    const std::uint32_t end = std::min(segment_end, plan_.columns.end);
    bool good = (in_step || cursor.begin(*index_, scan_, segment)) && skip_to(column, cursor) && decode_to(end, cursor);
    if (!good) blank(std::max(column, cursor.mcu - row * mcus_per_row_), end);
    in_step = false;
    if (good && end == segment_end) {
      const bool is_last = segment + 1 == index_->segment_count();
      good = is_last || (cursor.pass_restart(interval) && cursor.stands_at(index_->start(segment + 1)));
      in_step = good;
    }
    if (!good) note_damage(segment, report);
    ++segment;
    column = end;
  }
  sink_.flush();
}

bool McuRowDecoder::skip_to(std::uint32_t column, SegmentCursor& cursor) const {
  const std::uint32_t wanted = row_ * mcus_per_row_ + column;
  for (; cursor.mcu < wanted; cursor.advance()) {
    if (!cursor.pass_restart(index_->frame.restart_interval) ||
        !skip_mcu(cursor.reader, index_->frame, tables_, cursor.dc) || cursor.reader.overran()) {
      return false;
    }
  }
  return true;
}

bool McuRowDecoder::decode_to(std::uint32_t end, SegmentCursor& cursor) {
  const std::uint32_t wanted = row_ * mcus_per_row_ + end;
  for (; cursor.mcu < wanted; cursor.advance()) {
    if (!cursor.pass_restart(index_->frame.restart_interval) || !decode_mcu(cursor.mcu - row_ * mcus_per_row_, cursor))
      return false;
  }
  return true;
}

bool McuRowDecoder::decode_mcu(std::uint32_t column, SegmentCursor& cursor) {
  BitReader reader = cursor.reader;
  for (std::uint32_t b = 0; b < block_count_; ++b) {
    const BlockPlan& block = blocks_[b];
    const std::uint32_t last =
        decode_block(reader, *block.dc, *block.ac, *block.dequantizer, cursor.dc[block.component], sink_.block());
    if (last == kBadBlock) {
      sink_.drop();
      return false;
    }
    sink_.put(last, target(block, column));
  }
  cursor.reader = reader;
  return !reader.overran();
}

BlockTarget McuRowDecoder::target(const BlockPlan& block, std::uint32_t column) {
  const SampleRows& samples = (*samples_)[block.component];
  const std::uint32_t x = (column * index_->frame.components[block.component].h + block.x) * kBlockSize;
  return {row_samples_[block.component] + block.y * kBlockSize * samples.stride() + (x - samples.first()),
          samples.stride()};
}

void McuRowDecoder::blank(std::uint32_t column, std::uint32_t end) {
  sink_.flush();
  for (; column < end; ++column) {
    for (std::uint32_t b = 0; b < block_count_; ++b) BlockPairTransform::fill(kMiddleGray, target(blocks_[b], column));
  }
}

}  // namespace imgpack::jpeg
