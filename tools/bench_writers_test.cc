// The forms of a report. That figures are valid XML, and CSV what a CSV parser takes, is tested with parsers of other
// people, in tests/cli/test_bench.py.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tools/bench_testing.h"

namespace imgpack::tools {

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// RFC 4180, read by other code than it was written by.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quoted) {
      if (letter != '"') {
        fields.back() += letter;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        fields.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == ',') {
      fields.emplace_back();
    } else if (letter == '\n') {
      lines.push_back(std::move(fields));
      fields.assign(1, {});
    } else if (letter != '\r') {
      fields.back() += letter;
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("JSON: figures where there are any, null and a reason elsewhere") {
  const Json json = Json::parse(bench_json(sample_report()).dump());
  CHECK(json["machine"]["cpus"] == 4);
  CHECK(json["machine"]["load_before"] == 0.25);
  CHECK(json["options"]["measures"] == Json({"random", "gpu", "train"}));
  CHECK(json["options"]["step_ms"] == 10);
  CHECK(json["baseline"] == "y/b, \"<c>\" & 'd'");
  CHECK(json["files"][1]["storage"]["kind"] == "HDD");
  CHECK(json["files"][1]["resident_bytes"] == 250);
  REQUIRE(json["rows"].size() == 6);

  const Json& random = json["rows"][0];
  CHECK(random["measured"] == true);
  CHECK(random["rate"]["median"] == 210);
  CHECK(random["rate"]["lower"] == 205);
  CHECK(random["rate"]["upper"] == 220);
  CHECK(random["rate"]["rounds"] == 5);
  CHECK(random["bytes_per_second"] == 21000);
  CHECK(random["cpu_us_per_sample"].get<double>() == doctest::Approx(1e6 / 420));
  CHECK(random["speed"].get<double>() == doctest::Approx(210.0 / 102));
  CHECK(random["speed_is_clear"] == true);
  CHECK(random["loading"].is_null());
  CHECK(random["cold"].is_null());
  CHECK(random["runs"].size() == 5);
  CHECK(random["runs"][0]["resident_before_bytes"].is_null());

  const Json& gpu = json["rows"][2];
  CHECK(gpu["measured"] == false);
  CHECK(gpu["rate"].is_null());
  CHECK(gpu["error"]["code"] == "unsupported");
  CHECK(gpu["loading"]["GPU"] == "cuda (NVIDIA A)");
  CHECK(gpu["loading"]["Samples/s"].is_null());
  CHECK(json["rows"][3]["reason"] == "loose files are loaded into host memory only");

  const Json& train = json["rows"][4]["loading"];
  CHECK(train["Dataloader"] == "imgpack (rec)");
  CHECK(train["Disk"] == "NVMe");
  CHECK(train["Batch size"] == 64);
  CHECK(train["Time(s)"] == 2);
  CHECK(train["Steps"] == 3);
  CHECK(train["Samples/s"] == 52);
  CHECK(train["Speed"].is_null());
  CHECK(train["GPU Efficiency"] == 0.75);
}

TEST_CASE("JSON: what evicting has left is told of the row and of each run") {
  const Json json = bench_json(cold_report());
  CHECK(json["rows"][0]["cold"]["complete"] == false);
  CHECK(json["rows"][0]["cold"]["resident_bytes"] == 40);
  CHECK(json["rows"][0]["cold"]["obstacle"] == "somebody has it mapped");
  CHECK(json["rows"][0]["runs"][0]["evicted_from_bytes"] == 900);
  CHECK(json["rows"][0]["runs"][0]["resident_before_bytes"] == 0);
  CHECK(json["rows"][0]["runs"][4]["resident_before_bytes"] == 40);
  CHECK(json["rows"][0]["runs"][4]["resident_after_bytes"] == 800);
  CHECK(json["rows"][1]["cold"]["complete"] == true);
  CHECK(json["rows"][1]["cold"]["obstacle"].is_null());
}

TEST_CASE("CSV: a line a row, whatever names contain") {
  const auto lines = parse_csv(bench_csv(cold_report()));
  REQUIRE(lines.size() == 7);
  for (const auto& line : lines) CHECK(line.size() == lines[0].size());
  const auto value = [&](std::size_t row, const std::string& column) {
    for (std::size_t i = 0; i < lines[0].size(); ++i) {
      if (lines[0][i] == column) return lines[row + 1][i];
    }
    return "no column " + column;
  };
  CHECK(value(1, "file") == "y/b, \"<c>\" & 'd'");
  CHECK(value(0, "Samples/s") == "210");
  CHECK(value(0, "Speed") == "2.05882");
  CHECK(value(0, "CPU us/sample") == "2380.95");
  CHECK(value(0, "cold") == "not possible");
  CHECK(value(0, "resident before") == "40");
  CHECK(value(1, "cold") == "yes");
  CHECK(value(1, "resident before") == "0");
  CHECK(value(1, "resident after") == "800");
  CHECK(value(1, "Dataloader").empty());
  CHECK(value(2, "note") == "no GPU, \"here\"");
  CHECK(value(2, "Samples/s").empty());
  CHECK(value(4, "Dataloader") == "imgpack (rec)");
  CHECK(value(4, "Steps") == "3");
  CHECK(value(4, "GPU Efficiency") == "0.75");
}

TEST_CASE("table: all rows, the columns of training, and what to think of it") {
  const std::string text = bench_table(sample_report());
  for (const char* part : {"4 CPUs (Some CPU), load 0.25 before and 1.50 after, NVIDIA A", "5 rounds of 1 s", "warm",
                           "a.rec: rec, 10 images, 1.0 kB, on NVMe nvme0n1 (xfs)", "2.06x", "CPU us", "2,381", "1.00x",
                           "Dataloader", "GPU Efficiency", "75.0 %", "gpu of a.rec: no GPU",
                           "25.0 % of its bytes were in memory", "speed: relative to b, "}) {
    CAPTURE(part);
    CHECK(has(text, part));
  }
  CHECK_FALSE(has(text, "others were using"));
  CHECK_FALSE(has(text, "~:"));
  const std::string cold = bench_table(cold_report());
  CHECK(has(cold, "40 B -> 800 B of 1.0 kB"));
  CHECK(has(cold, "0 B -> 800 B of 1.0 kB"));
  CHECK(has(cold, "a.rec: not cold: 40 B of 1.0 kB stayed in memory: somebody has it mapped"));
}

TEST_CASE("table: noise is named") {
  BenchReport report = sample_report();
  report.options.rounds = 2;
  report.machine.load_before = 3;
  report.rows[0] = row_with_rates(measure::Measure::random, 0, {50, 150});
  const std::string text = bench_table(report);
  CHECK(has(text, "~"));
  CHECK(has(text, "*: the quartiles lie more than 10 %"));
  CHECK(has(text, "~: no clear difference"));
  CHECK(has(text, "2 rounds tell little"));
  CHECK(has(text, "others were using this machine"));
}

TEST_CASE("figure: a bar and a whisker for each row that was measured, a reason for the others") {
  const std::string svg = bench_svg(sample_report());
  CHECK(times(svg, "<rect") == 3 + 1);  // and the background
  CHECK(times(svg, "<path") == 3);
  CHECK(times(svg, "not measured: ") == 3);
  CHECK(has(svg, "random (images/s)"));
  CHECK(has(svg, "b, &quot;&lt;c&gt;&quot; &amp; &#39;d&#39;"));
  CHECK_FALSE(has(svg, "<c>"));
  CHECK(has(svg, "210 (2.06x)"));
  CHECK(has(svg, "GPU 75 %"));
}

TEST_CASE("figure: nothing measured, long names and long reasons") {
  BenchReport report = sample_report();
  for (measure::Row& row : report.rows) row.runs.clear();
  report.subjects[0].label = std::string(100, 'x') + "\u00e9.rec";
  report.rows[3].reason = std::string(81, 'y') + "\u00e9 and more";
  const std::string svg = bench_svg(report);
  CHECK(times(svg, "not measured: ") == 6);
  CHECK(has(svg, std::string(81, 'y') + "\u2026<"));
  CHECK(has(svg, "\u2026" + std::string(26, 'x') + "\u00e9.rec"));
}

TEST_CASE("page: the figure and the table") {
  const std::string html = bench_html(sample_report());
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(has(html, bench_svg(sample_report())));
  CHECK(has(html, "GPU Efficiency"));
  CHECK_FALSE(has(html, "<c>"));
}

}  // namespace imgpack::tools
