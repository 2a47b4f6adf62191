// The pieces that sections of the HTML report are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/console.h"
#include "tools/view/report_pictures.h"

namespace imgpack::tools {

/// A number in a box; `id` is where programs find it. `tone`: "", "mark" or "alarm".
std::string tile_html(std::string_view name, std::string_view id, std::uint64_t count, std::string_view tone);
/// The same with a text as value.
std::string text_tile_html(std::string_view name, std::string_view value);

/// Names and counts as bars, as long as their share of the largest.
std::string bars_html(const std::vector<std::pair<std::string, std::uint64_t>>& counts);
/// An object of counts as bars, the largest first.
std::string bars_html(const Json& counts);

/// A record with its thumbnail, key, split, class, size and, if it has one, the reason why it is shown.
std::string record_html(const Json& record, const Pictures& pictures);

}  // namespace imgpack::tools
