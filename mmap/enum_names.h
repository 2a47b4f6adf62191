// Enumerations and the names that people write for their values.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace imgpack {

template <class Value, std::size_t kCount>
using EnumNames = std::array<std::pair<Value, std::string_view>, kCount>;

/// "unknown" for a value that has no name.
template <class Value, std::size_t kCount>
constexpr std::string_view name_of(const EnumNames<Value, kCount>& names, Value wanted) noexcept {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "unknown";
}

template <class Value, std::size_t kCount>
constexpr std::optional<Value> value_of(const EnumNames<Value, kCount>& names, std::string_view wanted) noexcept {
  for (const auto& [value, name] : names) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace imgpack
