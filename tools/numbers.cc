#include "tools/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace imgpack::tools {

namespace {

using Parser = std::optional<std::uint64_t> (*)(std::string_view);

/// What a unit multiplies by; nothing if there is no such unit.
std::optional<std::uint64_t> factor_of(const std::string& unit) {
  if (unit.empty() || unit == "b") return 1;
  const std::size_t power = std::string_view("kmgtp").find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string rest = unit.substr(1);
  const bool binary = rest == "i" || rest == "ib";
  if (!binary && !rest.empty() && rest != "b") return std::nullopt;
  std::uint64_t factor = 1;
  for (std::size_t i = 0; i <= power; ++i) factor *= binary ? 1024 : 1000;
  return factor;
}

CLI::Option* add_option(CLI::App& command, const std::string& name, Parser parse, NumberRange range,
                        std::function<void(std::uint64_t)> store, const std::string& description) {
  const auto check = [parse, range](const std::string& text) -> std::string {
    const std::optional<std::uint64_t> number = parse(text);
    if (!number) {
      return fmt::format("'{}' is no {}", text,
                         parse == parse_number ? "whole number" : "size, such as 512, 64MB or 1GiB");
    }
    if (*number < range.least) return fmt::format("{} is too small; the least is {}", text, range.least);
    if (*number > range.most) return fmt::format("{} is too large; the most is {}", text, range.most);
    return {};
  };
  return command
      .add_option_function<std::string>(
          name, [parse, store = std::move(store)](const std::string& text) { store(parse(text).value()); }, description)
      ->check(CLI::Validator(check, ""));
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> number = parse_number(text.substr(0, digits));
  std::string unit(text.substr(digits));
  if (unit.starts_with(' ')) unit.erase(0, 1);
  const std::optional<std::uint64_t> factor = factor_of(CLI::detail::to_lower(unit));
  if (!number || !factor || *number > std::numeric_limits<std::uint64_t>::max() / *factor) return std::nullopt;
  return *number * *factor;
}

CLI::Option* add_number_option(CLI::App& command, const std::string& name, NumberRange range,
                               std::function<void(std::uint64_t)> store, const std::string& description) {
  return add_option(command, name, parse_number, range, std::move(store), description)->type_name("N");
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, NumberRange range,
                             std::function<void(std::uint64_t)> store, const std::string& description) {
  return add_option(command, name, parse_size, range, std::move(store), description)->type_name("SIZE");
}

void add_real_option(CLI::App& command, const std::string& name, double least, double most, double& value,
                     const std::string& description) {
  command.add_option(name, value, description)
      ->type_name("T")
      ->check(CLI::Validator(
          [least, most](const std::string& text) -> std::string {
            double number = 0;
            const bool parsed = CLI::detail::lexical_cast(text, number);
            const bool fits = parsed && std::isfinite(number) && number >= least && number <= most;
            return fits ? std::string() : fmt::format("'{}' is no number from {} to {}", text, least, most);
          },
          ""));
}

}  // namespace imgpack::tools
