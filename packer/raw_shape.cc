#include "packer/raw_shape.h"

#include <charconv>
#include <string_view>

namespace imgpack {

namespace {

std::optional<std::uint32_t> parse_side(std::string_view text) {
  std::uint32_t side = 0;
  if (text.empty() || text.front() == '0') return std::nullopt;  // from_chars() takes leading zeros, but no signs
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc() || end != text.data() + text.size() || side > RawShape::kMaxSide) return std::nullopt;
  return side;
}

}  // namespace

std::optional<RawShape> raw_shape_of(const DatasetInfo& info) {
  const auto entry = info.transform.find("raw_shape");
  if (entry == info.transform.end()) return std::nullopt;
  const std::string_view text = entry->second;
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto height = parse_side(text.substr(0, cross));
  const auto width = parse_side(text.substr(cross + 1));
  if (!height || !width) return std::nullopt;
  return RawShape{.height = *height, .width = *width};
}

}  // namespace imgpack
