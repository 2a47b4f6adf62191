#include "codec/jpeg/segment_index.h"

#include <algorithm>

#include "codec/jpeg/parser.h"
#include "codec/jpeg/segment_format.h"
#include "mmap/little_endian.h"

namespace imgpack::jpeg {

namespace {

constexpr std::uint32_t kMaxPositionBits = 32;
constexpr std::uint32_t kMaxDcBits = 16;

/// Whether `frame` is what the markers of `file` say. Only how long the scan is can't be seen there: not longer than
/// the rest of the file.
bool is_frame_of(const Frame& frame, std::span<const std::byte> file) {
  ParsedJpeg parsed = parse(file);
  if (parsed.indexability != Indexability::indexable || frame.scan_size > parsed.frame.scan_size) return false;
  parsed.frame.scan_size = frame.scan_size;
  return parsed.frame == frame;
}

void read_component(const std::byte* at, SegmentIndex& index, std::uint32_t c) {
  Component& component = index.frame.components[c];
  const auto sampling = static_cast<std::uint8_t>(at[kSamplingAt]);
  component.h = sampling >> 4;
  component.v = sampling & 15;
  component.quant_16bit = static_cast<std::uint8_t>(at[kQuantFlagAt]) == 1;
  component.quant_offset = load_le<std::uint32_t>(at + kQuantOffsetAt);
  component.dc_offset = load_le<std::uint32_t>(at + kDcOffsetAt);
  component.ac_offset = load_le<std::uint32_t>(at + kAcOffsetAt);
  index.dc_bits[c] = static_cast<std::uint8_t>(at[kDcBitsAt]);
  index.dc_base[c] = load_le<std::int16_t>(at + kDcBaseAt);
}

/// Whether the unused bytes and numbers are what a writer writes.
bool is_canonical(const std::byte* component) {
  const auto quant_flag = static_cast<std::uint8_t>(component[kQuantFlagAt]);
  return quant_flag <= 1 && component[kReservedByteAt] == std::byte{0} &&
         load_le<std::uint16_t>(component + kReservedAt) == 0 &&
         static_cast<std::uint8_t>(component[kDcBitsAt]) <= kMaxDcBits;
}

/// The first segment begins where the scan does, and the bits behind the last entry are zeros. (Where the others begin
/// is found out by decoding the segment before.)
bool entries_are_canonical(const SegmentIndex& index) {
  if (index.start(0) != SegmentStart{}) return false;
  const std::uint64_t bits = std::uint64_t{index.segment_count()} * index.entry_bits();
  return bits % 8 == 0 || index.entries[index.entries_size - 1] >> (bits % 8) == 0;
}

}  // namespace

IndexStatus open_segment_index(std::span<const std::byte> bytes, std::span<const std::byte> file, SegmentIndex& out) {
  if (bytes.empty()) return IndexStatus::absent;
  if (static_cast<std::uint8_t>(bytes[kVersionAt]) != kSegmentIndexVersion) return IndexStatus::unsupported;
  if (bytes.size() < kIndexHeaderSize) return IndexStatus::damaged;
  const std::byte* at = bytes.data();
  out = {};
  Frame& frame = out.frame;
  const auto color = static_cast<std::uint8_t>(at[kColorAt]);
  if (color > static_cast<std::uint8_t>(ColorModel::rgb)) return IndexStatus::damaged;
  frame.color = static_cast<ColorModel>(color);
  frame.component_count = static_cast<std::uint8_t>(at[kComponentCountAt]);
  frame.width = load_le<std::uint16_t>(at + kWidthAt);
  frame.height = load_le<std::uint16_t>(at + kHeightAt);
  frame.restart_interval = load_le<std::uint16_t>(at + kRestartIntervalAt);
  frame.scan_offset = load_le<std::uint32_t>(at + kScanOffsetAt);
  frame.scan_size = load_le<std::uint32_t>(at + kScanSizeAt);
  out.segment_mcus = load_le<std::uint16_t>(at + kSegmentMcusAt);
  out.position_bits = static_cast<std::uint8_t>(at[kPositionBitsAt]);
  if (frame.component_count != 1 && frame.component_count != kMaxComponents) return IndexStatus::damaged;
  const std::size_t entries_at = kIndexHeaderSize + frame.component_count * kIndexComponentSize;
  if (bytes.size() < entries_at) return IndexStatus::damaged;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const std::byte* component = at + kIndexHeaderSize + c * kIndexComponentSize;
    if (!is_canonical(component)) return IndexStatus::damaged;
    read_component(component, out, c);
  }
  if (!is_frame_of(frame, file) || out.position_bits > kMaxPositionBits || out.segment_mcus == 0 ||
      out.segment_mcus > frame.mcus_per_row()) {
    return IndexStatus::damaged;
  }
  const std::uint64_t entries_size = (std::uint64_t{out.segment_count()} * out.entry_bits() + 7) / 8;
  if (bytes.size() - entries_at != entries_size) return IndexStatus::damaged;
  out.entries = reinterpret_cast<const std::uint8_t*>(at) + entries_at;
  out.entries_size = static_cast<std::uint32_t>(entries_size);
  return entries_are_canonical(out) ? IndexStatus::ok : IndexStatus::damaged;
}

}  // namespace imgpack::jpeg
