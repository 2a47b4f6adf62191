// bench's results as a figure: SVG 1.1 without scripts, fonts or anything else from elsewhere.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/bench_report.h"
#include "tools/text.h"
#include "tools/view/html_text.h"

namespace imgpack::tools {

using measure::Row;

namespace {

// Lengths are in SVG's user units, which browsers show as pixels.
constexpr double kWidth = 960;
constexpr double kMargin = 16;
constexpr double kLabelWidth = 220;
constexpr double kValueWidth = 210;
constexpr double kBarHeight = 20;
constexpr double kBarStep = 28;
constexpr double kTitleHeight = 34;
constexpr double kHeadHeight = 62;
constexpr double kGroupGap = 14;
constexpr double kBarLeft = kMargin + kLabelWidth + 8;
constexpr double kBarSpace = kWidth - kBarLeft - kValueWidth - kMargin;
constexpr std::size_t kMostLabelLetters = 32;
constexpr std::size_t kMostNoteLetters = 96;

/// Okabe and Ito's colours, which people with colour blindness tell apart, without black and yellow.
constexpr std::array<std::string_view, 6> kColours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"};

bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// The end of a name tells more than its beginning. Cut between code points, as notes are.
std::string shortened(const std::string& label) {
  if (label.size() <= kMostLabelLetters) return label;
  std::size_t begin = label.size() - kMostLabelLetters;
  while (begin < label.size() && continues_code_point(label[begin])) ++begin;
  return "\u2026" + label.substr(begin);
}

std::string shortened_note(const std::string& note) {
  if (note.size() <= kMostNoteLetters) return note;
  std::size_t end = kMostNoteLetters;
  while (end > 0 && continues_code_point(note[end])) --end;
  return note.substr(0, end) + "\u2026";
}

std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, html(text));
}

std::string whisker(const measure::Summary& rates, double scale, double top) {
  const double middle = top + kBarHeight / 2;
  const double left = kBarLeft + rates.lower * scale;
  const double right = kBarLeft + rates.upper * scale;
  return fmt::format(
      "<path d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}V{4:.1f}M{1:.1f} {3:.1f}V{4:.1f}\" stroke=\"#222\" "
      "stroke-width=\"1.5\" fill=\"none\"/>\n",
      left, right, middle, middle - 5, middle + 5);
}

std::string value_text(const BenchReport& report, const Row& row, const measure::Summary& rates) {
  std::string text = rate_number(rates.median);
  if (const std::optional<double> speed = report.speed_of(row)) {
    text += fmt::format(" ({}{}x)", report.speed_is_clear(row) ? "" : "~", rate_number(*speed));
  }
  if (const std::optional<double> efficiency = report.gpu_efficiency_of(row)) {
    text += fmt::format(", GPU {:.0f} %", 100 * *efficiency);
  }
  return is_noisy(rates) ? text + " *" : text;
}

std::string bar(const BenchReport& report, const Row& row, double scale, double top) {
  const BenchSubject& subject = report.subject_of(row);
  const double baseline = top + kBarHeight / 2 + 4.5;
  std::string text = text_at(kBarLeft - 8, baseline, "text-anchor=\"end\"", shortened(printable(subject.label)));
  if (!row.measured()) {
    return text + text_at(kBarLeft, baseline, "fill=\"#777\" font-style=\"italic\"",
                          shortened_note("not measured: " + printable(report.note_of(row))));
  }
  const measure::Summary rates = row.rates();
  const std::string unit(unit_of(row.measure));
  text += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n", kBarLeft,
      top, std::max(rates.median * scale, 1.0), kBarHeight, kColours[row.subject % kColours.size()],
      html(fmt::format("{}: {} {}, quartiles {} - {}, {} rounds", subject.file, rate_number(rates.median), unit,
                       rate_number(rates.lower), rate_number(rates.upper), rates.count)));
  text += whisker(rates, scale, top);
  const double end = kBarLeft + std::max(rates.median, rates.upper) * scale;
  return text + text_at(end + 8, baseline, "", value_text(report, row, rates));
}

/// All rows of one measure, on a scale of their own. Moves `top` below them.
std::string group(const BenchReport& report, measure::Measure measure, double& top) {
  double most = 0;
  for (const Row& row : report.rows) {
    if (row.measure != measure || !row.measured()) continue;
    const measure::Summary rates = row.rates();
    most = std::max({most, rates.median, rates.upper});
  }
  const double scale = most > 0 ? kBarSpace / most : 0;
  std::string text = text_at(kMargin, top + 20, "font-weight=\"bold\" font-size=\"15\"",
                             fmt::format("{} ({})", to_string(measure), unit_of(measure)));
  top += kTitleHeight;
  for (const Row& row : report.rows) {
    if (row.measure != measure) continue;
    text += bar(report, row, scale, top);
    top += kBarStep;
  }
  top += kGroupGap;
  return text;
}

std::string conditions(const BenchReport& report) {
  std::string text = fmt::format("{}, {} of {} s, {}", count_of(report.machine.cpus, "CPU", "CPUs"),
                                 count_of(report.options.rounds, "round", "rounds"), report.options.run.seconds,
                                 report.options.cold ? "cold page cache" : "warm page cache");
  if (report.machine.load_before >= 0) text += fmt::format(", load {:.2f} before", report.machine.load_before);
  return text;
}

}  // namespace

std::string bench_svg(const BenchReport& report) {
  std::string body = text_at(kMargin, 30, "font-weight=\"bold\" font-size=\"18\"", "imgpack bench");
  body += text_at(kMargin, 50, "fill=\"#444\"",
                  conditions(report) + "; bars: medians, whiskers: quartiles, (x): relative to " +
                      shortened(printable(report.subjects[report.baseline].label)));
  double top = kHeadHeight;
  for (const measure::Measure measure : report.options.measures) body += group(report, measure, top);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>imgpack bench</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
      kWidth, top, body);
}

std::string bench_html(const BenchReport& report) {
  std::string table;
  const std::string text = bench_table(report);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    table += html(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>imgpack bench</title>\n"
      "<style>body {{ margin: 1em; background: #fff; color: #222; }} svg {{ max-width: 100%; height: auto; }} "
      "pre {{ overflow-x: auto; }}</style>\n</head>\n<body>\n{}<pre>\n{}</pre>\n</body>\n</html>\n",
      bench_svg(report), table);
}

}  // namespace imgpack::tools
