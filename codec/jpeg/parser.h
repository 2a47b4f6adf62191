// The markers of a JPEG file up to its first scan, read as libjpeg-turbo reads them (jdmarker.c), but strictly:
// whatever is not clearly a file that our decoder shows exactly as libjpeg-turbo does is left to libjpeg-turbo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

/// Why a JPEG file has no segment index. The numbers are not stored anywhere.
enum class Indexability : std::uint8_t {
  indexable,
  progressive,      ///< several passes over the coefficients
  arithmetic,       ///< arithmetic-coded
  multiple_scans,   ///< sequential, but components come in scans of their own
  four_components,  ///< CMYK, YCCK
  other_process,    ///< lossless, hierarchical, 12 bits, fractional sampling, a component count or scan order of no use
  damaged,          ///< markers, tables or entropy-coded data contradict themselves or end too soon
};

std::string_view to_string(Indexability) noexcept;

struct ParsedJpeg {
  Indexability indexability = Indexability::damaged;
  /// Valid if indexable: all table places lie in the file and hold valid tables; scan_size is all that is left of the
  /// file.
  Frame frame;
};

/// Reads no byte outside `file`; time is linear in the header's size. Files of 512 MiB and more are other_process.
ParsedJpeg parse(std::span<const std::byte> file) noexcept;

}  // namespace imgpack::jpeg
