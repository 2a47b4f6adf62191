// The LMDB format as the format registry sees it. On-disk layout: README.md here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "formats/backend.h"
#include "imgpack/store.h"

namespace imgpack {

/// Whether a file that starts with `head` is an LMDB data file (of anybody's: open_lmdb() tells whose).
bool recognise_lmdb(std::span<const std::byte> head, std::uint64_t size);

/// Maps the file and reads it without liblmdb: no lock file, no reader slots, safe from many threads and after fork().
/// Throws not_found, io, damaged, or unsupported if the file was not written by imgpack.
std::unique_ptr<StoreReader> open_lmdb(const std::filesystem::path& path);

/// Writes through liblmdb. Payloads are limited to 4 GiB - 1 bytes each.
std::unique_ptr<StoreBackend> create_lmdb_backend(BackendContext context);

}  // namespace imgpack
