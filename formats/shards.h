// Several packed files as one dataset: names of shards, manifests, and the reader over all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "imgpack/store.h"

namespace imgpack {

/// "out.rec", 2, 8 -> "out-00002-of-00008.rec".
std::filesystem::path shard_path(const std::filesystem::path& path, std::uint32_t shard, std::uint32_t count);

/// The files that were built as shards of `path`, in order; empty if there are none. Throws damaged if some are
/// missing.
std::vector<std::filesystem::path> shards_of(const std::filesystem::path& path);

/// Files that match a glob pattern, sorted, without those that only accompany a packed file (.idx, .imgpack, .partial,
/// .journal, .lock).
std::vector<std::filesystem::path> expand_pattern(const std::filesystem::path& pattern);

/// Whether a file that starts with `head` is a manifest, and the files it lists, relative names resolved against its
/// folder.
bool recognise_manifest(std::span<const std::byte> head);
struct ManifestShard {
  std::filesystem::path path;
  std::uint64_t records = 0;
  std::uint64_t content_digest = 0;
};
std::vector<ManifestShard> read_manifest(const std::filesystem::path& path);
/// Writes a manifest atomically. Paths are stored relative to the manifest's folder. Throws invalid_argument if one is
/// not UTF-8, already_exists, io.
void write_manifest(const std::filesystem::path& path, const std::vector<ManifestShard>& shards, bool overwrite);

/// The shards as one sequence. They must have the same classes and fields; throws damaged, naming the file that
/// differs.
std::unique_ptr<StoreReader> make_sharded_store(const std::filesystem::path& name,
                                                std::vector<std::unique_ptr<StoreReader>> shards);

}  // namespace imgpack
