#include "packer/transform_history.h"

#include <fmt/format.h>

namespace imgpack {

std::string joined(const std::map<std::string, std::string>& entries) {
  std::string text;
  for (const auto& [key, value] : entries) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, value);
  return text;
}

std::optional<std::string> inherited_shape(const std::map<std::string, std::string>& before, const Transform& now) {
  if (now.encode == Encode::jpeg || now.resize != 0 || now.zstd_level || now.apply_exif_orientation) {
    return std::nullopt;
  }
  const auto value = [&before](const char* key) {
    const auto entry = before.find(key);
    return entry == before.end() ? std::string() : entry->second;
  };
  if (std::string shape = value("raw_shape"); !shape.empty()) return shape;
  const bool one_size = value("resize_mode") == to_string(ResizeMode::exact) ||
                        value("resize_mode") == to_string(ResizeMode::center_crop);
  if (now.encode != Encode::raw || value("encode") != to_string(Encode::raw) || !one_size) return std::nullopt;
  return fmt::format("{0}x{0}", value("resize"));
}

std::string steps_so_far(std::map<std::string, std::string> before) {
  std::string earlier;
  if (const auto entry = before.find("source_transform"); entry != before.end()) {
    earlier = entry->second + "; ";
    before.erase(entry);
  }
  std::map<std::string, std::string> bytes = before;
  bytes.erase("index");
  const bool are_file_bytes = bytes.empty() || bytes == std::map<std::string, std::string>{{"encode", "keep"}};
  if (are_file_bytes) return earlier.empty() ? earlier : earlier.substr(0, earlier.size() - 2);
  return earlier + joined(before);
}

}  // namespace imgpack
