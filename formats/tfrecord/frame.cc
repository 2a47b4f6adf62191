#include "formats/tfrecord/frame.h"

#include "formats/tfrecord/crc32c.h"
#include "mmap/little_endian.h"

namespace imgpack {

std::array<std::byte, kFrameHeaderBytes> make_frame_header(std::uint64_t data_size) noexcept {
  std::array<std::byte, kFrameHeaderBytes> header;
  store_le(header.data(), data_size);
  store_le(header.data() + 8, mask_crc(crc32c(0, std::span(header).first(8))));
  return header;
}

std::array<std::byte, kFrameTrailerBytes> make_frame_trailer(std::uint32_t crc) noexcept {
  std::array<std::byte, kFrameTrailerBytes> trailer;
  store_le(trailer.data(), mask_crc(crc));
  return trailer;
}

std::string_view to_string(FrameStatus status) noexcept {
  switch (status) {
    case FrameStatus::ok:
      return "frame is intact";
    case FrameStatus::end:
      return "file ends between two frames";
    case FrameStatus::short_header:
      return "file ends inside a frame's header";
    case FrameStatus::bad_size_crc:
      return "frame's size does not match its CRC";
    case FrameStatus::short_data:
      return "file ends inside a frame's data";
    case FrameStatus::bad_data_crc:
      return "frame's data do not match their CRC";
  }
  return "unknown frame status";
}

bool is_frame_header(std::span<const std::byte> head) noexcept {
  return head.size() >= kFrameHeaderBytes &&
         load_le<std::uint32_t>(head.data() + 8) == mask_crc(crc32c(0, head.first(8)));
}

FrameStatus read_frame_bounds(std::span<const std::byte> file, std::uint64_t offset, Frame& frame) noexcept {
  const std::span<const std::byte> rest = file.subspan(offset);
  if (rest.empty()) return FrameStatus::end;
  if (rest.size() < kFrameHeaderBytes) return FrameStatus::short_header;
  if (!is_frame_header(rest)) return FrameStatus::bad_size_crc;
  const std::uint64_t data_size = load_le<std::uint64_t>(rest.data());
  const std::span<const std::byte> behind = rest.subspan(kFrameHeaderBytes);
  if (behind.size() < kFrameTrailerBytes || data_size > behind.size() - kFrameTrailerBytes)
    return FrameStatus::short_data;
  frame.offset = offset;
  frame.size = kFrameHeaderBytes + data_size + kFrameTrailerBytes;
  frame.data = behind.first(data_size);
  frame.stored_crc = load_le<std::uint32_t>(behind.data() + data_size);
  return FrameStatus::ok;
}

FrameStatus read_frame(std::span<const std::byte> file, std::uint64_t offset, Frame& frame) noexcept {
  const FrameStatus status = read_frame_bounds(file, offset, frame);
  if (status != FrameStatus::ok) return status;
  return mask_crc(crc32c(0, frame.data)) == frame.stored_crc ? FrameStatus::ok : FrameStatus::bad_data_crc;
}

}  // namespace imgpack
