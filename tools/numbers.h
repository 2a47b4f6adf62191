// Numbers and sizes as options take them: decimal digits, nothing that overflows, no sign, no octal surprise.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace imgpack::tools {

/// "42"; nothing for anything but digits, or beyond 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// "512", "64MB" (decimal), "1 GiB" (binary); units B, kB, KiB, ... PB, PiB in any case, the B may be left out.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Both ends are allowed values.
struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

/// An option that takes one number, or one size, in `range`, and hands it to `store`.
CLI::Option* add_number_option(CLI::App& command, const std::string& name, NumberRange range,
                               std::function<void(std::uint64_t)> store, const std::string& description);
CLI::Option* add_size_option(CLI::App& command, const std::string& name, NumberRange range,
                             std::function<void(std::uint64_t)> store, const std::string& description);

/// An option that takes a number with or without a fraction, from `least` to `most`; named T where it is shown.
void add_real_option(CLI::App& command, const std::string& name, double least, double most, double& value,
                     const std::string& description);

}  // namespace imgpack::tools
