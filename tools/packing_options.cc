#include "tools/packing_options.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "tools/numbers.h"

namespace imgpack::tools {

namespace {

constexpr unsigned kMostThreads = 4096;
constexpr std::uint32_t kMostShards = 99'999;  // what five digits in a name can count

std::string check_shard(const std::string& text) {
  return parse_shard(text)
             ? std::string()
             : fmt::format("'{}' is not I/N with I from 0 to N-1, such as 2/4 for the third of four", text);
}

std::string check_metadata(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? fmt::format("'{}' is not KEY=VALUE", text) : std::string();
}

std::map<std::string, std::string> metadata_of(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> metadata;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (!metadata.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      throw Error(ErrorCode::invalid_argument, fmt::format("--metadata names {} twice", pair.substr(0, equals)));
    }
  }
  return metadata;
}

}  // namespace

std::optional<ShardChoice> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> index = parse_number(text.substr(0, slash));
  const std::optional<std::uint64_t> count = parse_number(text.substr(slash + 1));
  if (!index || !count || *index >= *count || *count > kMostShards) return std::nullopt;
  return ShardChoice{.index = static_cast<std::uint32_t>(*index), .count = static_cast<std::uint32_t>(*count)};
}

CLI::Option* add_threads_option(CLI::App& command, unsigned& threads) {
  return add_number_option(
      command, "--threads", {.least = 0, .most = kMostThreads},
      [&threads](std::uint64_t number) { threads = static_cast<unsigned>(number); },
      "Worker threads; 0, the default, takes as many as there are processors");
}

void add_max_pixels_option(CLI::App& command, std::uint64_t& max_pixels) {
  add_number_option(
      command, "--max-pixels", {.least = 1}, [&max_pixels](std::uint64_t number) { max_pixels = number; },
      "Refuse images of more pixels (default 178956970, Pillow's limit against decompression bombs)");
}

void add_output_options(CLI::App& command, PackingOptions& options) {
  command.add_option("--format", options.format, "Default: by OUT's extension, else rec")
      ->check(CLI::IsMember({"rec", "lmdb", "hdf5", "tfrecord"}));
  add_threads_option(command, options.build.threads);
  add_size_option(
      command, "--align", {.least = 8, .most = 65536},
      [&options](std::uint64_t bytes) { options.build.alignment = static_cast<std::uint32_t>(bytes); },
      "Alignment of payloads in rec files: a power of two from 8 to 65536 (default 64; 4096 for unbuffered reads)");
  command.add_option("--metadata", options.metadata, "Store a free-form value in the dataset; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_metadata, ""))
      ->type_name("KEY=VALUE");
  command.add_flag("--overwrite", options.build.overwrite, "Replace an existing OUT");
}

void add_packing_options(CLI::App& command, PackingOptions& options) {
  add_output_options(command, options);
  add_transform_options(command, options.transform);
  add_max_pixels_option(command, options.build.max_pixels);
  command.add_option("--on-error", options.on_error, "What to do about a file that cannot be packed (default stop)")
      ->check(CLI::IsMember({"stop", "skip"}));
  CLI::Option* shards = add_number_option(
      command, "--shards", {.least = 1, .most = kMostShards},
      [&options](std::uint64_t number) { options.build.shards = static_cast<std::uint32_t>(number); },
      "Write so many files");
  CLI::Option* shard_size = add_size_option(
      command, "--shard-size", {.least = 1}, [&options](std::uint64_t bytes) { options.build.shard_size = bytes; },
      "Cut into files whose images together stay below this size");
  CLI::Option* shard =
      command.add_option("--shard", options.shard, "Write only file I, counted from 0, of the N of a whole build")
          ->check(CLI::Validator(check_shard, ""))
          ->type_name("I/N");
  shards->excludes(shard_size);
  shards->excludes(shard);
  shard_size->excludes(shard);
  add_number_option(
      command, "--shuffle-seed", {}, [&options](std::uint64_t seed) { options.build.shuffle_seed = seed; },
      "Store the records of each split in an order shuffled by this seed");
  command.add_flag("--resume", options.build.resume, "Go on with an interrupted build of the same OUT");
  command.add_flag("--dry-run", options.build.dry_run, "Look at everything, write nothing");
  add_number_option(
      command, "--limit", {.least = 1}, [&options](std::uint64_t count) { options.build.limit = count; },
      "Take only N, equally many of each class as far as there are");
}

BuildOptions to_build_options(const PackingOptions& options) {
  BuildOptions build = options.build;
  if (!options.format.empty()) build.format = format_from_name(options.format);
  build.on_error = options.on_error == "skip" ? OnError::skip : OnError::stop;
  if (const std::optional<ShardChoice> choice = parse_shard(options.shard)) {
    build.shards = choice->count;
    build.only_shard = choice->index;
  }
  if (build.dry_run) build.work_dir = std::filesystem::temp_directory_path();  // nothing may appear beside OUT
  build.transform = to_transform(options.transform);
  build.metadata = metadata_of(options.metadata);
  return build;
}

}  // namespace imgpack::tools
