#include "codec/image_name.h"

#include <algorithm>
#include <array>

namespace imgpack {

namespace {

constexpr std::array<std::string_view, 13> kExtensions = {".jpg", ".jpeg", ".jpe",  ".jfif", ".png", ".ppm", ".bmp",
                                                          ".pgm", ".tif",  ".tiff", ".webp", ".gif", ".dib"};

constexpr char ascii_lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

bool has_image_name(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  return std::ranges::any_of(kExtensions, [extension = name.substr(dot)](std::string_view known) {
    return std::ranges::equal(extension, known, {}, ascii_lower);
  });
}

}  // namespace imgpack
