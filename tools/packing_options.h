// The options that build and convert share, and merge --copy a part of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/build.h"
#include "tools/transform_options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace imgpack::tools {

/// --shard I/N: which of how many files.
struct ShardChoice {
  std::uint32_t index = 0;  ///< counted from 0
  std::uint32_t count = 1;
  bool operator==(const ShardChoice&) const = default;
};

/// "2/4" -> {2, 4}. Nothing unless 0 <= I < N and N is at least 1.
std::optional<ShardChoice> parse_shard(std::string_view text);

/// What was parsed; to_build_options() makes the library's form of it.
struct PackingOptions {
  std::string format;  ///< empty: by the output's extension
  TransformOptions transform;
  std::string on_error = "stop";
  std::string shard;
  std::vector<std::string> metadata;  ///< KEY=VALUE
  BuildOptions build;
};

/// --format --threads --align --metadata --overwrite.
void add_output_options(CLI::App& command, PackingOptions& options);
/// The options of add_transform_options(), --on-error --shards --shard-size --shard --shuffle-seed --resume --dry-run
/// --limit.
void add_packing_options(CLI::App& command, PackingOptions& options);

/// Throws Error(invalid_argument) where options contradict each other.
BuildOptions to_build_options(const PackingOptions& options);

CLI::Option* add_threads_option(CLI::App& command, unsigned& threads);
/// --max-pixels.
void add_max_pixels_option(CLI::App& command, std::uint64_t& max_pixels);

}  // namespace imgpack::tools
