// Texts from outside as parts of an HTML page.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tools/console.h"

namespace imgpack::tools {

/// `text` as content of an element, or of an attribute in double or single quotes. Control characters and bytes that
/// are not UTF-8 become \xNN.
std::string html(std::string_view text);

/// `document` for a <script> element: JSON in which no <, > or & occurs, so that nothing in it ends the element or
/// opens a comment.
std::string script_json(const Json& document);

/// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes);

}  // namespace imgpack::tools
