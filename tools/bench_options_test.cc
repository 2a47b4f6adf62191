#include "tools/bench_options.h"

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

using measure::Measure;

BenchOptions parse(std::vector<std::string> arguments) {
  CLI::App app;
  BenchOptions options;
  add_bench_options(app, options);
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return options;
}

measure::ComparisonOptions compared(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "a.rec");
  return to_comparison_options(parse(std::move(arguments)));
}

}  // namespace

TEST_CASE("defaults measure reading, decoding and loading") {
  const measure::ComparisonOptions options = compared({});
  CHECK(options.measures ==
        std::vector{Measure::open, Measure::seq, Measure::random, Measure::decode, Measure::loader});
  CHECK_FALSE(options.cold);
  CHECK(options.rounds == 5);
  CHECK(options.run.seconds == 1);
  CHECK(options.run.threads >= 1);
  REQUIRE(options.run.transform.size() == 3);
  CHECK(std::get<RandomResizedCrop>(options.run.transform[0]).size == ImageSize(224));
  CHECK(std::holds_alternative<HorizontalFlip>(options.run.transform[1]));
  CHECK(std::holds_alternative<Normalize>(options.run.transform[2]));
}

TEST_CASE("options become the library's") {
  const measure::ComparisonOptions options =
      compared({"--measure", "train,seq,train", "--step-ms", "2.5",       "--cold", "--rounds", "3",      "--seconds",
                "0.25",      "--batch",         "16",        "--threads", "7",      "--device", "cuda:1", "--transform",
                "center",    "--crop",          "64",        "--resize",  "80",     "--dtype",  "uint8",  "--layout",
                "nhwc",      "--interpolation", "bicubic",   "--seed",    "9"});
  CHECK(options.measures == std::vector{Measure::train, Measure::seq});
  CHECK(options.cold);
  CHECK(options.rounds == 3);
  CHECK(options.seed == 9);
  CHECK(options.run.seconds == 0.25);
  CHECK(options.run.step_seconds == 0.0025);
  CHECK(options.run.batch_size == 16);
  CHECK(options.run.threads == 7);
  CHECK(options.run.device == "cuda:1");
  CHECK(options.run.dtype == DType::u8);
  CHECK(options.run.layout == Layout::nhwc);
  REQUIRE(options.run.transform.size() == 2);
  CHECK(std::get<Resize>(options.run.transform[0]).shorter == 80);
  CHECK(std::get<Resize>(options.run.transform[0]).interpolation == Interpolation::bicubic);
  CHECK(std::get<CenterCrop>(options.run.transform[1]).size == ImageSize(64));
  CHECK(compared({"--transform", "none", "--dtype", "uint8"}).run.transform.empty());
}

TEST_CASE("measures end with their argument, and may be given in several") {
  const BenchOptions options = parse({"--measure", "seq,random", "a.rec", "b.rec", "--measure", "open", "c.rec"});
  CHECK(options.files == std::vector<std::string>{"a.rec", "b.rec", "c.rec"});
  CHECK(to_comparison_options(options).measures == std::vector{Measure::seq, Measure::random, Measure::open});
}

TEST_CASE("what contradicts itself is refused") {
  CHECK_THROWS_AS(compared({"--measure", "train"}), Error);
  CHECK_THROWS_AS(compared({"--step-ms", "5"}), Error);
  CHECK_THROWS_AS(compared({"--device", "tpu"}), Error);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"a", "--measure", "speed"},
                                                                                         {"a", "--seconds", "0"},
                                                                                         {"a", "--seconds", "nan"},
                                                                                         {"a", "--seconds", "-1"},
                                                                                         {"a", "--seconds", "1s"},
                                                                                         {"a", "--rounds", "0"},
                                                                                         {"a", "--batch", "0"},
                                                                                         {"a", "--transform", "x"},
                                                                                         {}}) {
    CHECK_THROWS_AS(parse(arguments), CLI::ParseError);
  }
}

TEST_CASE("the baseline is named as a file was, or by its last component") {
  const auto number = [](const std::string& baseline) {
    return baseline_number(parse({"x/a.rec", "y/b.rec", "z/folder/", "--baseline", baseline}));
  };
  CHECK(baseline_number(parse({"x/a.rec", "y/b.rec"})) == 0);
  CHECK(number("y/b.rec") == 1);
  CHECK(number("b.rec") == 1);
  CHECK(number("folder") == 2);
  CHECK_THROWS_AS(number("c.rec"), Error);
  CHECK_THROWS_AS(baseline_number(parse({"x/a.rec", "y/a.rec", "--baseline", "a.rec"})), Error);
}

}  // namespace imgpack::tools
