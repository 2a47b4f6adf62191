// The rec format as the registry sees it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "formats/backend.h"

namespace imgpack {

bool recognise_rec(std::span<const std::byte> head, std::uint64_t size);
/// Throws damaged, unsupported (a newer version, or an index whose payloads lie in another file), io.
std::unique_ptr<StoreReader> open_rec(const std::filesystem::path& path);
std::unique_ptr<StoreBackend> create_rec_backend(BackendContext context);

}  // namespace imgpack
