#include "tools/packing_options.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

/// The arguments in the order in which they are typed.
BuildOptions parse(std::vector<std::string> arguments) {
  CLI::App app;
  PackingOptions options;
  add_packing_options(app, options);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(std::move(arguments));
  return to_build_options(options);
}

}  // namespace

TEST_CASE("--shard counts from 0") {
  CHECK(parse_shard("0/1") == ShardChoice{.index = 0, .count = 1});
  CHECK(parse_shard("2/4") == ShardChoice{.index = 2, .count = 4});
  for (const char* wrong : {"4/4", "5/4", "-1/4", "1", "1/", "/4", "1/0", "0/0", "a/b", "1/4x", " 1/4", "1/4/2", "",
                            "99999999999/99999999999", "1/100000"}) {
    CAPTURE(std::string(wrong));
    CHECK_FALSE(parse_shard(wrong));
  }
  const BuildOptions options = parse({"--shard", "2/4"});
  CHECK(options.shards == 4);
  CHECK(options.only_shard == 2u);
}

TEST_CASE("numbers and sizes outside their range are refused, not cut") {
  CHECK(parse({"--shard-size", "1GiB"}).shard_size == 1ull << 30);
  CHECK(parse({"--align", "4KiB"}).alignment == 4096);
  CHECK(parse({"--limit", "010"}).limit == 10);
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--shard-size", "0"},
                                                        {"--shard-size", "99999999999999999999"},
                                                        {"--align", "128KiB"},
                                                        {"--align", "4"},
                                                        {"--limit", "0"},
                                                        {"--limit", "-1"},
                                                        {"--limit", "18446744073709551616"},
                                                        {"--shards", "0"},
                                                        {"--shards", "100000"},
                                                        {"--threads", "-1"},
                                                        {"--threads", "5000"},
                                                        {"--shuffle-seed", "x"}}) {
    CAPTURE(option);
    CAPTURE(value);
    CHECK_THROWS_AS(parse({option, value}), CLI::ParseError);
  }
}

TEST_CASE("metadata values may hold anything, names may not be empty or stand twice") {
  const BuildOptions options = parse({"--metadata", "a=1", "--metadata", "b=x=y", "--metadata", "c="});
  CHECK(options.metadata == std::map<std::string, std::string>{{"a", "1"}, {"b", "x=y"}, {"c", ""}});
  CHECK_THROWS_AS(parse({"--metadata", "novalue"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--metadata", "=x"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--metadata", "a=1", "--metadata", "a=2"}), Error);
}

TEST_CASE("options that contradict each other are refused") {
  CHECK_THROWS_AS(parse({"--shards", "4", "--shard", "1/4"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--shards", "4", "--shard-size", "1MB"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--shard", "1/4", "--shard-size", "1MB"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--format", "zip"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--on-error", "ignore"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--encode", "webp"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--encode", "raw", "--resize-mode", "exact"}), CLI::ParseError);
  CHECK_THROWS_AS(parse({"--resize", "256"}), Error);
  CHECK_THROWS_AS(parse({"--zstd", "3"}), Error);
}

TEST_CASE("what was asked for arrives at the library") {
  const BuildOptions options =
      parse({"--format", "lmdb", "--threads", "3", "--on-error", "skip", "--resume", "--overwrite", "--dry-run",
             "--limit", "7", "--shuffle-seed", "0", "--encode", "keep"});
  CHECK(options.format == Format::lmdb);
  CHECK(options.threads == 3);
  CHECK(options.on_error == OnError::skip);
  CHECK(options.resume);
  CHECK(options.overwrite);
  CHECK(options.dry_run);
  CHECK(options.limit == 7);
  CHECK(options.shuffle_seed == 0u);
  const BuildOptions defaults = parse({});
  CHECK_FALSE(defaults.format);
  CHECK_FALSE(defaults.shuffle_seed);
  CHECK_FALSE(defaults.only_shard);
  CHECK(defaults.alignment == 64);
  CHECK(defaults.on_error == OnError::stop);
}

}  // namespace imgpack::tools
