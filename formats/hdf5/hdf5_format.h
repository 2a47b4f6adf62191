// The HDF5 format: what formats/registry.cc lists. Layout and rules: README.md in this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "formats/backend.h"
#include "imgpack/store.h"

namespace imgpack {

/// Whether a file starts as HDF5 files do. Says nothing about who made it: open_hdf5() tells foreign files apart.
bool recognise_hdf5(std::span<const std::byte> head, std::uint64_t size);

/// Asks libhdf5 once where everything lies and serves all reads from a mapping afterwards.
/// Throws unsupported for HDF5 files that imgpack did not make, damaged (with libhdf5's own words), not_found or io.
std::unique_ptr<StoreReader> open_hdf5(const std::filesystem::path& path);

/// Throws invalid_argument for fields that HDF5 cannot hold, unsupported, io.
std::unique_ptr<StoreBackend> create_hdf5_backend(BackendContext context);

}  // namespace imgpack
