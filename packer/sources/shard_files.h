// Which tars a WebDataset source means: one, all in a folder, or those that a pattern names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imgpack {

struct TarShard {
  std::filesystem::path path;
  /// Relative to the folder of all shards, without ".tar": "train-000017", "train/000017". Unique in its set.
  std::string name;
};

struct TarShardSet {
  std::vector<TarShard> shards;       ///< sorted by name, bytewise
  std::vector<std::string> warnings;  ///< about files that look like shards but were left out
};

/// Whether `path` is no existing file and has braces or wildcards in it that name tars.
bool is_shard_pattern(const std::filesystem::path& path);

/// `path` is a tar, a folder (its tars and those of its folders train, val, validation and test), or a pattern with
/// ranges {000..146}, alternatives {a,b}, and the wildcards * ? [...].
///
/// Throws not_found if a file that braces spell out is missing, or wildcards match nothing; invalid_argument for a
/// malformed or boundless pattern; unsupported if all that is there is compressed; io.
TarShardSet find_tar_shards(const std::filesystem::path& path);

/// The patterns or names that the braces of `pattern` stand for, in order. Throws invalid_argument.
std::vector<std::string> expand_braces(const std::string& pattern);

/// "train", "val", "validation" or "test" if a shard's name starts with that folder, or with that word and one of
/// "-_."; else empty.
std::string split_of_shard(const std::string& name);

/// Whether a file's name says that it is a compressed tar (.tar.gz, .tgz, .tar.zst, ...).
bool is_compressed_tar_name(const std::string& name);

}  // namespace imgpack
