// The names of the files beside a TFRecord, and the lines of the one that DALI reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace imgpack {

inline constexpr std::string_view kIdxSuffix = ".idx";        ///< "offset size" lines, for DALI
inline constexpr std::string_view kIndexSuffix = ".imgpack";  ///< the index that open_tfrecord() maps

inline std::filesystem::path side_file(const std::filesystem::path& path, std::string_view suffix) {
  std::filesystem::path result = path;
  result += suffix;
  return result;
}

/// Sets `line` to the frame's line, with its line feed.
inline void format_idx_line(std::uint64_t frame_offset, std::uint64_t frame_size, std::string& line) {
  line = std::to_string(frame_offset);
  line += ' ';
  line += std::to_string(frame_size);
  line += '\n';
}

}  // namespace imgpack
