// Numbers, sizes and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace imgpack::tools {

/// `text` with bytes that are not UTF-8 and control characters written as \xNN: safe on a terminal, always one line.
std::string printable(std::string_view text);

/// 1281167 -> "1,281,167".
std::string count_text(std::uint64_t count);
/// "1 record", "1,281,167 records".
std::string count_of(std::uint64_t count, std::string_view singular, std::string_view plural);
/// Decimal units, as disks and rates are given: "512 B", "1.5 MB", "148.3 GB".
std::string size_text(double bytes);
/// "84 ms", "1.5 s", "12 s", "3 min 04 s", "2 h 05 min".
std::string duration_text(double seconds);
/// "1,234 images/s, 56.7 MB/s"; empty if `seconds` is too short to mean anything.
std::string rate_text(std::uint64_t images, std::uint64_t bytes, double seconds);

/// "12.3 %", "100 %", "below 0.1 %".
std::string percent_text(std::uint64_t part, std::uint64_t whole);

/// `part` / `whole`, 0 if `whole` is not above 0.
double ratio(double part, double whole) noexcept;

}  // namespace imgpack::tools
