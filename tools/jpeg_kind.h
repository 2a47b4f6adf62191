// What kind of JPEG a file is, in a word or two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "imgpack/store.h"

namespace imgpack::tools {

/// Subsampling in J:a:b notation ("4:2:0"; "RGB " before it where the colours are not YCbCr, sampling factors where
/// there is no such notation), "gray", or what keeps the file from having a segment index: "progressive", ...,
/// "damaged". Reads the header alone.
std::string jpeg_kind(std::span<const std::byte> file);

/// The same of a record; "damaged" if its bytes can't be read.
std::string jpeg_kind_of(const StoreReader& store, std::uint64_t record);

}  // namespace imgpack::tools
