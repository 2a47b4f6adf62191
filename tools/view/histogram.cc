#include "tools/view/histogram.h"

#include <algorithm>
#include <array>

namespace imgpack::tools {

namespace {

constexpr std::array<double, 13> kSides = {1, 32, 64, 128, 224, 256, 320, 384, 512, 768, 1024, 2048, 4096};
constexpr std::array<double, 11> kAspects = {0, 0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.8, 1.25, 1.5, 2, 3, 4};
constexpr std::array<double, 14> kBytes = {0,       1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15,
                                           1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 22, 1 << 24};

}  // namespace

void Histogram::add(double value) {
  const auto above = std::ranges::upper_bound(limits_, std::max(value, limits_.front()));
  ++counts_[static_cast<std::size_t>(above - limits_.begin()) - 1];
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::span<const double> side_limits() noexcept {
  return kSides;
}

std::span<const double> aspect_limits() noexcept {
  return kAspects;
}

std::span<const double> byte_limits() noexcept {
  return kBytes;
}

}  // namespace imgpack::tools
