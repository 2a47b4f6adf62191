// Checks the structure of a MATLAB 5 file before matio sees it: matio follows sizes and counts of damaged files out of
// its memory.
//
// A MATLAB 5 file is a header of 128 bytes and a sequence of elements, each a tag (type and size), its bytes, and
// padding to 8; a matrix is an element that is made of elements (MathWorks, "MAT-File Format", chapter 1).
#pragma once

#include <cstdint>
#include <string>

#include "mmap/file.h"

namespace imgpack {

/// Passes little-endian files of at most `max_bytes` (also when decompressed) whose variables are real numeric arrays,
/// texts, and arrays of structs of these: all that a devkit's meta.mat has. `name` is what errors call the file.
///
/// Throws damaged if a size, a count or the checksum of compressed data is wrong; unsupported for other kinds of
/// variables, big-endian and MATLAB 7.3 files; io.
void check_matlab_file(const File& file, std::uint64_t max_bytes, const std::string& name);

}  // namespace imgpack
