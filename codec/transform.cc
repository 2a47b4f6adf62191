#include "imgpack/transform.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::array<std::pair<Interpolation, std::string_view>, 6> kInterpolations = {{
    {Interpolation::nearest, "nearest"},
    {Interpolation::box, "box"},
    {Interpolation::bilinear, "bilinear"},
    {Interpolation::hamming, "hamming"},
    {Interpolation::bicubic, "bicubic"},
    {Interpolation::lanczos, "lanczos"},
}};

}  // namespace

std::string_view to_string(Interpolation interpolation) noexcept {
  for (const auto& [value, name] : kInterpolations) {
    if (value == interpolation) return name;
  }
  return "unknown";
}

std::optional<Interpolation> interpolation_from_name(std::string_view name) noexcept {
  for (const auto& [value, known] : kInterpolations) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace imgpack
