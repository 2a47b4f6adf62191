// The fixed parts of the HTML report: how it looks, and what it can do with a script.
#pragma once

#include <string_view>

namespace imgpack::tools {

extern const std::string_view kPageStyle;
/// Sorts tables by their headings, filters the classes, and says how many are shown. The page is readable without it.
extern const std::string_view kPageScript;
/// The base64 of kPageScript's SHA-256: the page's policy lets this script run and no other.
extern const std::string_view kPageScriptHash;

}  // namespace imgpack::tools
