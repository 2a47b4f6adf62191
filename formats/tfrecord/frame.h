// The frames of a TFRecord file, one a record:
//
//   u64 size | u32 masked CRC-32C of those 8 bytes | size bytes of data | u32 masked CRC-32C of the data
//
// Little-endian, without padding, header or trailer of the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace imgpack {

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::size_t kFrameTrailerBytes = 4;

std::array<std::byte, kFrameHeaderBytes> make_frame_header(std::uint64_t data_size) noexcept;
/// `crc` is the plain CRC-32C of the data.
std::array<std::byte, kFrameTrailerBytes> make_frame_trailer(std::uint32_t crc) noexcept;

enum class FrameStatus : std::uint8_t {
  ok,
  end,           ///< the file ends here, between two frames
  short_header,  ///< the file ends inside the frame's first 12 bytes
  bad_size_crc,  ///< the size is not the one that was written
  short_data,    ///< the file ends before the frame does
  bad_data_crc,  ///< the data are not those that were written
};
/// A sentence for people, without full stop.
std::string_view to_string(FrameStatus status) noexcept;

struct Frame {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t size = 0;    ///< of the whole frame, header and trailer included
  std::span<const std::byte> data;
  std::uint32_t stored_crc = 0;  ///< masked, of the data
};

/// Whether `head` begins with a frame header whose size passes its CRC.
bool is_frame_header(std::span<const std::byte> head) noexcept;

/// Reads the frame at `offset` of `file`, without looking at its data. REQUIRES: offset <= file.size().
FrameStatus read_frame_bounds(std::span<const std::byte> file, std::uint64_t offset, Frame& frame) noexcept;
/// The same, and compares the CRC of the data. `frame` is complete also for bad_data_crc.
FrameStatus read_frame(std::span<const std::byte> file, std::uint64_t offset, Frame& frame) noexcept;

}  // namespace imgpack
