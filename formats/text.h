// UTF-8: what keys and names in packed datasets must be.
#pragma once

#include <string>
#include <string_view>

namespace imgpack {

/// Whether `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of well-formed UTF-8 written as \xNN.
std::string printable_utf8(std::string_view text);

}  // namespace imgpack
