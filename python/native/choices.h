// Enumerations appear in Python as their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "imgpack/error.h"
#include "python/native/text.h"

namespace imgpack::python {

/// An enumeration that counts from 0 to `last`, with its names.
template <class Enum>
struct Choices {
  using FromName = std::optional<Enum> (*)(std::string_view);
  const char* what;
  FromName from_name;
  Enum last;

  /// Throws invalid_argument, listing what there is.
  Enum parse(nanobind::str name) const {
    const std::string given = bytes_of(name);
    if (const std::optional<Enum> value = from_name(given)) return *value;
    std::string names;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      names += fmt::format("{}'{}'", i == 0 ? "" : ", ", to_string(static_cast<Enum>(i)));
    }
    throw Error(ErrorCode::invalid_argument, fmt::format("{} can't be '{}': it is one of {}", what, given, names));
  }
};

/// A property of `type` that is read and set as a name.
template <class Type, class Enum>
void def_choice(nanobind::class_<Type>& type, Choices<Enum> choices, Enum Type::*member) {
  type.def_prop_rw(
      choices.what, [member](const Type& self) { return text(to_string(self.*member)); },
      [member, choices](Type& self, nanobind::str name) { self.*member = choices.parse(std::move(name)); });
}

/// The same of what may be unset, None.
template <class Type, class Enum>
void def_choice(nanobind::class_<Type>& type, Choices<Enum> choices, std::optional<Enum> Type::*member) {
  type.def_prop_rw(
      choices.what,
      [member](const Type& self) {
        return self.*member ? std::optional(text(to_string(*(self.*member)))) : std::nullopt;
      },
      [member, choices](Type& self, std::optional<nanobind::str> name) {
        self.*member = name ? std::optional(choices.parse(*name)) : std::nullopt;
      },
      nanobind::for_setter(nanobind::arg("value").none()));
}

}  // namespace imgpack::python
