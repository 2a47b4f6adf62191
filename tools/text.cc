#include "tools/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "formats/text.h"

namespace imgpack::tools {

std::string printable(std::string_view text) {
  const std::string utf8 = printable_utf8(text);
  std::string out;
  out.reserve(utf8.size());
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(utf8[i]);
    const auto next = static_cast<std::uint8_t>(i + 1 < utf8.size() ? utf8[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F, the C1 controls
      out += fmt::format("\\x{:02x}\\x{:02x}", byte, next);
      ++i;
    } else {
      out += utf8[i];
    }
  }
  return out;
}

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string count_of(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count_text(count), count == 1 ? singular : plural);
}

std::string size_text(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  // 999.95 would print as 1000.0.
  for (; unit + 1 < kUnits.size() && bytes >= (unit == 0 ? 1000.0 : 999.95); ++unit) bytes /= 1000;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string duration_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string rate_text(std::uint64_t images, std::uint64_t bytes, double seconds) {
  constexpr double kShortest = 1e-6;
  if (seconds < kShortest) return {};
  return fmt::format("{} images/s, {:.1f} MB/s",
                     count_text(static_cast<std::uint64_t>(static_cast<double>(images) / seconds)),
                     static_cast<double>(bytes) / seconds / 1e6);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (part == whole) return whole == 0 ? "0 %" : "100 %";
  if (part == 0) return "0 %";
  const double percent = 100 * ratio(static_cast<double>(part), static_cast<double>(whole));
  if (percent < 0.1) return "below 0.1 %";
  return fmt::format("{:.1f} %", std::min(percent, 99.9));  // not all is not 100 %
}

double ratio(double part, double whole) noexcept {
  return whole > 0 ? part / whole : 0;
}

}  // namespace imgpack::tools
