#include "tools/bench_report.h"

#include <doctest/doctest.h>

#include "tools/bench_testing.h"

namespace imgpack::tools {

TEST_CASE("speed is relative to the baseline's row of the same measure") {
  const BenchReport report = sample_report();
  CHECK(report.speed_of(report.rows[0]) == doctest::Approx(210.0 / 102));
  CHECK(report.speed_of(report.rows[1]) == 1);
  CHECK_FALSE(report.speed_of(report.rows[2]).has_value());
  CHECK_FALSE(report.speed_of(report.rows[4]).has_value());  // the baseline was not measured
  CHECK(report.speed_is_clear(report.rows[0]));
  CHECK(report.speed_is_clear(report.rows[1]));

  BenchReport close = sample_report();
  close.rows[0] = row_with_rates(measure::Measure::random, 0, {99, 100, 102, 104, 110});
  CHECK_FALSE(close.speed_is_clear(close.rows[0]));
}

TEST_CASE("a GPU is named where there is no doubt which it is") {
  BenchReport report = sample_report();
  CHECK(report.gpu_of(report.rows[0]) == "none");
  CHECK(report.gpu_of(report.rows[2]) == "cuda (NVIDIA A)");
  report.machine.gpus = {"NVIDIA A", "NVIDIA B"};
  CHECK(report.gpu_of(report.rows[2]) == "cuda");
  report.options.run.device = "cpu";
  CHECK(report.gpu_of(report.rows[4]) == "none");
}

TEST_CASE("efficiency is the consumer's share of the time") {
  const BenchReport report = sample_report();
  CHECK(report.gpu_efficiency_of(report.rows[4]) == 0.75);
  CHECK_FALSE(report.gpu_efficiency_of(report.rows[0]).has_value());
  CHECK_FALSE(report.gpu_efficiency_of(report.rows[5]).has_value());
}

TEST_CASE("notes say why there are no figures, or why they are not cold") {
  const BenchReport report = cold_report();
  CHECK(report.note_of(report.rows[0]) == "not cold: 40 B of 1.0 kB stayed in memory: somebody has it mapped");
  CHECK(report.note_of(report.rows[1]).empty());
  CHECK(report.note_of(report.rows[2]) == "no GPU, \"here\"");
  CHECK(report.note_of(report.rows[3]) == "loose files are loaded into host memory only");
}

TEST_CASE("labels are as short as they can be") {
  CHECK(short_labels({"x/a.rec", "y/b.rec", "z/folder/", "."}) ==
        std::vector<std::string>{"a.rec", "b.rec", "folder", "."});
  CHECK(short_labels({"x/a.rec", "y/a.rec", "b"}) == std::vector<std::string>{"x/a.rec", "y/a.rec", "b"});
}

TEST_CASE("rates have three digits that mean something, or all") {
  CHECK(rate_number(0) == "0.00");
  CHECK(rate_number(1.234) == "1.23");
  CHECK(rate_number(12.34) == "12.3");
  CHECK(rate_number(123.6) == "124");
  CHECK(rate_number(1234567) == "1,234,567");
}

TEST_CASE("noise is when quartiles lie far apart") {
  CHECK(is_noisy(measure::summarize(std::vector<double>{80, 90, 100, 110, 120})));
  CHECK_FALSE(is_noisy(measure::summarize(std::vector<double>{98, 99, 100, 101, 102})));
}

}  // namespace imgpack::tools
