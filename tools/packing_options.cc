#include "tools/packing_options.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

constexpr unsigned kMostThreads = 4096;

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

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
  const std::optional<std::uint32_t> index = parse_number(text.substr(0, slash));
  const std::optional<std::uint32_t> count = parse_number(text.substr(slash + 1));
  if (!index || !count || *index >= *count) return std::nullopt;
  return ShardChoice{.index = *index, .count = *count};
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& description) {
  return command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(true).description(""))
      ->type_name("SIZE")
      ->check(CLI::PositiveNumber.description(""));
}

CLI::Option* add_threads_option(CLI::App& command, unsigned& threads) {
  return command
      .add_option("--threads", threads, "Worker threads; 0, the default, takes as many as there are processors")
      ->check(CLI::Range(0u, kMostThreads).description(""))
      ->type_name("N");
}

void add_output_options(CLI::App& command, PackingOptions& options) {
  command.add_option("--format", options.format, "Default: by OUT's extension, else rec")
      ->check(CLI::IsMember({"rec", "lmdb", "hdf5", "tfrecord"}));
  add_threads_option(command, options.build.threads);
  command
      .add_option_function<std::uint64_t>(
          "--align", [&options](std::uint64_t bytes) { options.build.alignment = static_cast<std::uint32_t>(bytes); },
          "Alignment of payloads in rec files: a power of two from 8 to 65536 (default 64; 4096 for unbuffered reads)")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->check(CLI::Range(8, 65536).description(""))
      ->type_name("SIZE");
  command.add_option("--metadata", options.metadata, "Store a free-form value in the dataset; may be repeated")
      ->allow_extra_args(false)
      ->check(CLI::Validator(check_metadata, ""))
      ->type_name("KEY=VALUE");
  command.add_flag("--overwrite", options.build.overwrite, "Replace an existing OUT");
}

void add_packing_options(CLI::App& command, PackingOptions& options) {
  add_output_options(command, options);
  command.add_option("--encode", options.encode, "keep: the original bytes of every file")
      ->check(CLI::IsMember({"keep"}));
  command.add_option("--on-error", options.on_error, "What to do about a file that cannot be packed (default stop)")
      ->check(CLI::IsMember({"stop", "skip"}));
  CLI::Option* shards = command.add_option("--shards", options.build.shards, "Write so many files")
                            ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()).description(""))
                            ->type_name("N");
  CLI::Option* shard_size = add_size_option(command, "--shard-size", options.build.shard_size,
                                            "Cut into files whose images together stay below this size");
  CLI::Option* shard =
      command.add_option("--shard", options.shard, "Write only file I, counted from 0, of the N of a whole build")
          ->check(CLI::Validator(check_shard, ""))
          ->type_name("I/N");
  shards->excludes(shard_size);
  shards->excludes(shard);
  shard_size->excludes(shard);
  command
      .add_option_function<std::uint64_t>(
          "--shuffle-seed", [&options](std::uint64_t seed) { options.build.shuffle_seed = seed; },
          "Store the records of each split in an order shuffled by this seed")
      ->type_name("S");
  command.add_flag("--resume", options.build.resume, "Go on with an interrupted build of the same OUT");
  command.add_flag("--dry-run", options.build.dry_run, "Look at everything, write nothing");
  command.add_option("--limit", options.build.limit, "Take only the first N")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
}

BuildOptions to_build_options(const PackingOptions& options) {
  BuildOptions build = options.build;
  if (!options.format.empty()) build.format = format_from_name(options.format);
  build.on_error = options.on_error == "skip" ? OnError::skip : OnError::stop;
  if (const std::optional<ShardChoice> choice = parse_shard(options.shard)) {
    build.shards = choice->count;
    build.only_shard = choice->index;
  }
  build.metadata = metadata_of(options.metadata);
  return build;
}

}  // namespace imgpack::tools
