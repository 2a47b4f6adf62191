#include "formats/extent_recovery.h"

#include <algorithm>
#include <vector>

namespace imgpack {

namespace {

/// Reads [offset, offset + size) of a file of known size, or nothing if it is not all there.
bool read_extent(const File& data, std::uint64_t file_size, std::uint64_t offset, std::uint64_t size,
                 std::vector<std::byte>& out) {
  if (offset > file_size || size > file_size - offset) return false;
  out.resize(static_cast<std::size_t>(size));
  return data.read_some_at(offset, out) == out.size();
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

RecoveredExtent recover_extents(const File& log, const File& data, std::uint64_t begin,
                                const std::function<RecordExtent(const LogRow&, std::uint64_t)>& place) {
  RecoveredExtent kept{.records = 0, .end = begin};
  const std::uint64_t file_size = data.size();
  std::vector<std::byte> bytes;
  RecordLogReader reader(log);
  for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
    if (kind != RecordLogReader::Kind::record) continue;
    const LogRow& row = reader.record();
    const RecordExtent extent = place(row, kept.end);
    if (extent.payload_offset != row.payload_offset || extent.payload_offset < kept.end || extent.end < kept.end) break;
    if (!read_extent(data, file_size, kept.end, extent.end - kept.end, bytes)) break;
    const std::span<const std::byte> whole(bytes);
    const std::uint64_t payload_begin = extent.payload_offset - kept.end;
    if (payload_begin > whole.size() || row.meta.payload_size > whole.size() - payload_begin) break;
    if (!all_zero(whole.first(static_cast<std::size_t>(payload_begin)))) break;
    const auto payload =
        whole.subspan(static_cast<std::size_t>(payload_begin), static_cast<std::size_t>(row.meta.payload_size));
    std::span<const std::byte> segments = row.segments;
    if (extent.segments_in_file) {
      const std::uint64_t segments_begin = extent.segments_offset - kept.end;
      const std::uint64_t payload_end = payload_begin + payload.size();
      if (segments_begin < payload_end || segments_begin > whole.size() ||
          row.meta.segments_size > whole.size() - segments_begin) {
        break;
      }
      if (!all_zero(whole.subspan(static_cast<std::size_t>(payload_end),
                                  static_cast<std::size_t>(segments_begin - payload_end))))
        break;
      segments =
          whole.subspan(static_cast<std::size_t>(segments_begin), static_cast<std::size_t>(row.meta.segments_size));
    }
    if (record_checksum(payload, segments) != row.meta.checksum) break;
    ++kept.records;
    kept.end = extent.end;
  }
  return kept;
}

}  // namespace imgpack
