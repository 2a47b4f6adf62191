// Small files with valid headers of every image type, for tests and fuzzers of read_image_header().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "codec/image_header.h"

namespace imgpack::testing {

struct HeaderSample {
  std::string name;
  std::vector<std::byte> bytes;
  ImageHeader header;       ///< what is to be found
  std::size_t header_size;  ///< bytes without which the file does not open
};

/// All image types and their variants. The pixels of some of them are missing or make no sense.
std::vector<HeaderSample> header_samples();

/// A segment of a JPEG: FF, marker, length, body.
std::vector<std::byte> jpeg_segment(std::uint8_t marker, const std::vector<std::byte>& body);
std::vector<std::byte> bytes_of(std::string_view text);
std::vector<std::byte> concatenated(const std::vector<std::vector<std::byte>>& parts);

}  // namespace imgpack::testing
