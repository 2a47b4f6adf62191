// A look at an HDF5 file's metadata before libhdf5 sees any of it.
//
// Everything that this format has libhdf5 write, superblock and object headers, carries a checksum, and a reader of its
// own is needed to compare it beforehand: libhdf5 takes sizes from a header in order to find its checksum, falls back
// to older structures that have none where a signature does not fit, and loses memory and open files on its way out of
// a failure. What passes here is what some libhdf5 wrote, unless somebody went to the length of making the checksums
// fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace imgpack::hdf5 {

/// The checksum of HDF5 metadata: Bob Jenkins' lookup3, function hashlittle with initial value 0.
std::uint32_t metadata_checksum(std::span<const std::byte> bytes) noexcept;

/// `name` is for error messages. Walks from the superblock to the headers of all objects that are ours. Throws
/// unsupported if the file is of HDF5 but not of imgpack, damaged, with the offset, if any of this metadata is.
void check_metadata(std::span<const std::byte> file, const std::filesystem::path& name);

}  // namespace imgpack::hdf5
