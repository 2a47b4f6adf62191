// The names by which ImageNet's files are known.
#pragma once

#include <algorithm>
#include <string_view>

namespace imgpack {

inline bool all_digits(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "n01440764".
inline bool is_wnid(std::string_view name) noexcept {
  return name.size() == 9 && name[0] == 'n' && all_digits(name.substr(1));
}

/// The wnid of a class tar's name ("n01440764.tar"), or nothing.
inline std::string_view class_tar_wnid(std::string_view name) noexcept {
  if (!name.ends_with(".tar")) return {};
  name.remove_suffix(4);
  return is_wnid(name) ? name : std::string_view();
}

/// "ILSVRC2012_val_00000001.JPEG" for the kind "val", "ILSVRC2012_test_..." for "test"; of any year.
inline bool is_numbered_image(std::string_view name, std::string_view kind) noexcept {
  constexpr std::string_view kPrefix = "ILSVRC";
  constexpr std::string_view kSuffix = ".JPEG";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix) || name.size() < kPrefix.size() + kSuffix.size()) {
    return false;
  }
  name = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const std::size_t year_end = name.find('_');
  if (year_end != 4 || !all_digits(name.substr(0, 4))) return false;
  name.remove_prefix(5);
  if (!name.starts_with(kind)) return false;
  name.remove_prefix(kind.size());
  return name.size() == 9 && name[0] == '_' && all_digits(name.substr(1));
}

inline std::string_view base_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace imgpack
