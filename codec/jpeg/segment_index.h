// The segment index of a JPEG file: points in its scan where decoding can begin, stored beside the untouched file, and
// what has to be known of the file's header. codec/jpeg/SEGMENTS.md has the bytes.
//
// A segment is a run of MCUs of one row; every row begins a new one. An index is at least as trustworthy as the
// record's checksum and no more: whoever decodes with it stays within the file whatever it says.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "codec/host_device.h"
#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

/// Where a segment begins.
struct SegmentStart {
  std::uint32_t bit = 0;  ///< from the beginning of the scan: byte * 8 + bit (0 is the highest), stuffed bytes counted
  std::int16_t dc[kMaxComponents] = {};  ///< DC predictors
  bool operator==(const SegmentStart&) const = default;
};

/// An opened index: a view of its bytes. For host and device.
struct SegmentIndex {
  Frame frame;
  std::uint32_t segment_mcus = 1;  ///< MCUs of a segment; the last one of a row may have fewer
  std::uint32_t position_bits = 0;
  std::uint8_t dc_bits[kMaxComponents] = {};
  std::int16_t dc_base[kMaxComponents] = {};
  const std::uint8_t* entries = nullptr;
  std::uint32_t entries_size = 0;  ///< bytes

  IMGPACK_HD std::uint32_t segments_per_row() const { return (frame.mcus_per_row() + segment_mcus - 1) / segment_mcus; }
  IMGPACK_HD std::uint32_t segment_count() const { return segments_per_row() * frame.mcu_rows(); }
  IMGPACK_HD std::uint32_t entry_bits() const {
    std::uint32_t bits = position_bits;
    for (std::uint32_t c = 0; c < frame.component_count; ++c) bits += dc_bits[c];
    return bits;
  }
  /// SegmentStart::bit alone. REQUIRES: segment < segment_count().
  IMGPACK_HD std::uint32_t position(std::uint32_t segment) const {
    return read(static_cast<std::uint64_t>(segment) * entry_bits(), position_bits);
  }
  /// REQUIRES: segment < segment_count().
  IMGPACK_HD SegmentStart start(std::uint32_t segment) const {
    SegmentStart start;
    std::uint64_t at = static_cast<std::uint64_t>(segment) * entry_bits();
    start.bit = read(at, position_bits);
    at += position_bits;
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      start.dc[c] = static_cast<std::int16_t>(dc_base[c] + static_cast<std::int32_t>(read(at, dc_bits[c])));
      at += dc_bits[c];
    }
    return start;
  }

 private:
  /// `count` <= 32 bits from bit `at` on, lowest first.
  IMGPACK_HD std::uint32_t read(std::uint64_t at, std::uint32_t count) const {
    const std::uint64_t word = five_bytes(static_cast<std::uint32_t>(at >> 3));
    return static_cast<std::uint32_t>((word >> (at & 7)) & ((std::uint64_t{1} << count) - 1));
  }
  /// From byte `first` on, as far as there are so many; what lies above them is unspecified.
  IMGPACK_HD std::uint64_t five_bytes(std::uint32_t first) const {
    std::uint64_t word = 0;
#if !defined(__CUDA_ARCH__)  // which loads from multiples of eight only
    if (std::endian::native == std::endian::little && entries_size - first >= sizeof(word)) {
      std::memcpy(&word, entries + first, sizeof(word));
      return word;
    }
#endif
    for (std::uint32_t i = 0; i < 5 && i < entries_size - first; ++i) {
      word |= static_cast<std::uint64_t>(entries[first + i]) << (8 * i);
    }
    return word;
  }
};

enum class IndexStatus : std::uint8_t {
  ok,
  absent,       ///< no bytes: the file has no index
  unsupported,  ///< of a version that this build does not know
  damaged,      ///< contradicts itself or the file's markers
};

/// Opens the index `bytes` of `file`; `out` points into `bytes`. Checks all that needs no look at the scan: afterwards
/// the frame is what parse() finds in the file, the first segment begins where the scan does, and each segment has an
/// entry. Whether the other entries are right shows when the segments before them are decoded.
IndexStatus open_segment_index(std::span<const std::byte> bytes, std::span<const std::byte> file, SegmentIndex& out);

}  // namespace imgpack::jpeg
