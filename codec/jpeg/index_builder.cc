#include "codec/jpeg/index_builder.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "codec/jpeg/libjpeg.h"
#include "codec/jpeg/segment_format.h"
#include "codec/jpeg/segment_index.h"
#include "codec/jpeg/tables.h"
#include "codec/jpeg/vanishing.h"
#include "mmap/little_endian.h"

namespace imgpack::jpeg {

namespace {

/// MCUs of a segment: as few as the options' share of the scan allows, in segments of even length.
std::uint32_t choose_segment_mcus(const Frame& frame, const IndexOptions& options) {
  constexpr std::uint32_t kUsualDcBits = 7;  // what real photographs need at usual qualities
  const std::uint32_t row = frame.mcus_per_row();
  if (options.segment_mcus != 0) return std::min(options.segment_mcus, row);
  const std::uint32_t restart = frame.restart_interval;
  const bool even_restarts = restart != 0 && row % restart == 0;
  const std::uint32_t position_bits = 3 + static_cast<std::uint32_t>(std::bit_width(frame.scan_size));
  const std::uint32_t entry_bits = position_bits + (even_restarts ? 0 : kUsualDcBits * frame.component_count);
  const double budget_bits = options.share * 8 * frame.scan_size -
                             8.0 * static_cast<double>(kIndexHeaderSize + frame.component_count * kIndexComponentSize);
  const double per_row = budget_bits / entry_bits / frame.mcu_rows();
  const std::uint32_t least = (options.min_blocks + frame.blocks_per_mcu() - 1) / frame.blocks_per_mcu();
  const std::uint32_t most_segments = std::max(1u, row / std::max(1u, least));
  const std::uint32_t segments = per_row < 1 ? 1 : static_cast<std::uint32_t>(std::min<double>(per_row, most_segments));
  const std::uint32_t mcus = (row + segments - 1) / segments;
  return even_restarts ? std::min(row, (mcus + restart - 1) / restart * restart) : mcus;
}

void note_start(const BitReader& reader, const std::int16_t* dc, std::vector<SegmentStart>& starts) {
  SegmentStart& start = starts.emplace_back();
  start.bit = reader.bit_position();
  std::copy_n(dc, kMaxComponents, start.dc);
}

/// One pass over the scan that notes where segments begin. False if the scan is damaged. Sets frame.scan_size to what
/// the scan really takes.
bool find_starts(std::span<const std::byte> file, std::uint32_t segment_mcus, const ScanTables& tables, Frame& frame,
                 std::vector<SegmentStart>& starts) {
  const auto* scan = reinterpret_cast<const std::uint8_t*>(file.data()) + frame.scan_offset;
  BitReader reader(scan, 0, 0, frame.scan_size);
  std::int16_t dc[kMaxComponents] = {};
  std::uint32_t until_restart = frame.restart_interval;
  std::uint32_t restarts = 0;
  for (std::uint32_t y = 0; y < frame.mcu_rows(); ++y) {
    std::uint32_t until_segment = 0;
    for (std::uint32_t x = 0; x < frame.mcus_per_row(); ++x, --until_segment, --until_restart) {
      if (frame.restart_interval != 0 && until_restart == 0) {
        if (!reader.take_restart_marker(restarts++)) return false;
        std::ranges::fill(dc, std::int16_t{0});
        until_restart = frame.restart_interval;
      }
      if (until_segment == 0) {
        note_start(reader, dc, starts);
        until_segment = segment_mcus;
      }
      if (!skip_mcu(reader, frame, tables, dc) || reader.overran()) return false;
    }
  }
  frame.scan_size = (reader.bit_position() + 7) / 8;
  // The zero stuffed behind a last FF belongs to it: without that it would read as half a marker.
  if (scan[frame.scan_size - 1] == 0xff) ++frame.scan_size;
  return true;
}

/// Puts numbers of a few bits one after the other, lowest bits first.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}
  void put(std::uint32_t value, std::uint32_t bits) {
    word_ |= static_cast<std::uint64_t>(value) << count_;
    count_ += bits;
    for (; count_ >= 8; count_ -= 8, word_ >>= 8) *out_++ = static_cast<std::byte>(word_);
  }
  void flush() {
    if (count_ != 0) *out_++ = static_cast<std::byte>(word_);
  }

 private:
  std::byte* out_;
  std::uint64_t word_ = 0;
  std::uint32_t count_ = 0;
};

void write_component(std::byte* at, const Component& component, std::uint8_t dc_bits, std::int16_t dc_base) {
  std::fill_n(at, kIndexComponentSize, std::byte{0});
  at[kSamplingAt] = static_cast<std::byte>(component.h << 4 | component.v);
  at[kQuantFlagAt] = static_cast<std::byte>(component.quant_16bit ? 1 : 0);
  at[kDcBitsAt] = static_cast<std::byte>(dc_bits);
  store_le<std::int16_t>(at + kDcBaseAt, dc_base);
  store_le<std::uint32_t>(at + kQuantOffsetAt, component.quant_offset);
  store_le<std::uint32_t>(at + kDcOffsetAt, component.dc_offset);
  store_le<std::uint32_t>(at + kAcOffsetAt, component.ac_offset);
}

void write_index(const Frame& frame, std::uint32_t segment_mcus, std::span<const SegmentStart> starts,
                 ByteBuffer& out) {
  std::int16_t least[kMaxComponents];
  std::uint32_t dc_bits[kMaxComponents];
  std::uint32_t entry_bits = static_cast<std::uint32_t>(std::bit_width(starts.back().bit));
  const std::uint32_t position_bits = entry_bits;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const auto [low, high] = std::ranges::minmax(starts, {}, [c](const SegmentStart& start) { return start.dc[c]; });
    least[c] = low.dc[c];
    dc_bits[c] = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint32_t>(high.dc[c] - low.dc[c])));
    entry_bits += dc_bits[c];
  }
  const std::size_t header_size = kIndexHeaderSize + frame.component_count * kIndexComponentSize;
  std::byte* at = out.resize(header_size + (starts.size() * entry_bits + 7) / 8).data();
  at[kVersionAt] = static_cast<std::byte>(kSegmentIndexVersion);
  at[kColorAt] = static_cast<std::byte>(frame.color);
  at[kPositionBitsAt] = static_cast<std::byte>(position_bits);
  at[kComponentCountAt] = static_cast<std::byte>(frame.component_count);
  store_le<std::uint16_t>(at + kSegmentMcusAt, static_cast<std::uint16_t>(segment_mcus));
  store_le<std::uint16_t>(at + kWidthAt, static_cast<std::uint16_t>(frame.width));
  store_le<std::uint16_t>(at + kHeightAt, static_cast<std::uint16_t>(frame.height));
  store_le<std::uint16_t>(at + kRestartIntervalAt, static_cast<std::uint16_t>(frame.restart_interval));
  store_le<std::uint32_t>(at + kScanOffsetAt, frame.scan_offset);
  store_le<std::uint32_t>(at + kScanSizeAt, frame.scan_size);
  BitWriter bits(at + header_size);
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    write_component(at + kIndexHeaderSize + c * kIndexComponentSize, frame.components[c],
                    static_cast<std::uint8_t>(dc_bits[c]), least[c]);
  }
  for (const SegmentStart& start : starts) {
    bits.put(start.bit, position_bits);
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      bits.put(static_cast<std::uint32_t>(start.dc[c] - least[c]), dc_bits[c]);
    }
  }
  bits.flush();
}

bool has_marker_behind(std::span<const std::byte> file, const Frame& frame) {
  for (std::size_t i = std::size_t{frame.scan_offset} + frame.scan_size; i + 1 < file.size(); ++i) {
    if (file[i] == std::byte{0xff} && file[i + 1] != std::byte{0} && file[i + 1] != std::byte{0xff}) return true;
  }
  return false;
}

class NoRows final : public RowSink {
 public:
  void take(std::uint32_t, ConstRgbView) override {}
};

/// Without a marker behind the scan it depends on the very last bits whether libjpeg-turbo, fed as Pillow feeds it,
/// sees that the image is complete. What is refused without an index has to be refused with one.
bool decodes_whole(std::span<const std::byte> file, const Frame& frame) {
  NoRows rows;
  return decode_jpeg_rows(file, std::uint64_t{frame.width} * frame.height, rows).ok();
}

}  // namespace

struct IndexBuilder::State {
  HuffmanCache cache;
  std::vector<SegmentStart> starts;
};

IndexBuilder::IndexBuilder() : state_(std::make_unique<State>()) {}
IndexBuilder::~IndexBuilder() = default;
IndexBuilder::IndexBuilder(IndexBuilder&&) noexcept = default;
IndexBuilder& IndexBuilder::operator=(IndexBuilder&&) noexcept = default;

Indexability IndexBuilder::build(std::span<const std::byte> file, const IndexOptions& options, ByteBuffer& out) {
  out.resize(0);
  ParsedJpeg parsed = parse(file);
  if (parsed.indexability != Indexability::indexable) return parsed.indexability;
  Frame& frame = parsed.frame;
  // A block takes at least a bit: a scan with fewer can't be whole, and its size need not cost memory.
  const std::uint64_t blocks = std::uint64_t{frame.mcus_per_row()} * frame.mcu_rows() * frame.blocks_per_mcu();
  if (blocks / 8 > frame.scan_size) return Indexability::damaged;

  const ScanTables tables = scan_tables(frame, file, true, state_->cache);
  const std::uint32_t segment_mcus = choose_segment_mcus(frame, options);
  std::vector<SegmentStart>& starts = state_->starts;
  starts.clear();
  if (!find_starts(file, segment_mcus, tables, frame, starts)) return Indexability::damaged;
  if (has_vanishing_coefficient(file, frame, tables)) return Indexability::other_process;
  if (!has_marker_behind(file, frame) && !decodes_whole(file, frame)) return Indexability::damaged;
  write_index(frame, segment_mcus, starts, out);
  return Indexability::indexable;
}

}  // namespace imgpack::jpeg
