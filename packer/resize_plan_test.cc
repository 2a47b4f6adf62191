// Sizes as torchvision computes them.
#include "packer/resize_plan.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <doctest/doctest.h>

namespace imgpack {
namespace {

Transform resizing(ResizeMode mode, std::uint32_t n, bool upscale = true) {
  return {.encode = Encode::raw, .resize = n, .resize_mode = mode, .upscale = upscale};
}

ResizePlan plan(Size from, const Transform& transform) {
  const auto planned = plan_resize(from, transform);
  CAPTURE(from.width);
  CAPTURE(from.height);
  REQUIRE(std::holds_alternative<ResizePlan>(planned));
  return std::get<ResizePlan>(planned);
}

std::string refusal(Size from, const Transform& transform) {
  const auto planned = plan_resize(from, transform);
  return std::holds_alternative<std::string>(planned) ? std::get<std::string>(planned) : "";
}

Size kept_size(const ResizePlan& plan) {
  return {plan.kept.width, plan.kept.height};
}

/// torchvision's Resize(n), as Python computes it: int(n * long / short) with a float division.
Size torchvision_resize(Size from, std::uint32_t n) {
  const bool by_width = from.width <= from.height;
  const double lesser = std::min(from.width, from.height);
  const double greater = std::max(from.width, from.height);
  const auto other = static_cast<std::uint32_t>(n * greater / lesser);
  return by_width ? Size{n, other} : Size{other, n};
}

/// torchvision's CenterCrop(n): int(round((side - n) / 2.0)), which rounds halves to even.
std::uint32_t torchvision_margin(std::uint32_t side, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::nearbyint((side - n) / 2.0));
}

}  // namespace

TEST_CASE("shorter and center-crop have torchvision's sizes and margins") {
  CHECK(plan({500, 375}, resizing(ResizeMode::shorter, 256)).scaled == Size{341, 256});
  CHECK(plan({500, 375}, resizing(ResizeMode::center_crop, 256)).kept == Rect{42, 0, 256, 256});
  CHECK(plan({375, 502}, resizing(ResizeMode::center_crop, 256)).kept == Rect{0, 43, 256, 256});  // 86 / 2
  CHECK(plan({1, 1}, resizing(ResizeMode::shorter, 7)).scaled == Size{7, 7});
  std::uint32_t state = 1;
  const auto draw = [&state](std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return 1 + (state >> 8) % below;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t most = i % 2 == 0 ? 900 : 16'000;
    const Size from{draw(most), draw(most)};
    const std::uint32_t n = draw(i % 3 == 0 ? 1500 : 300);
    const Size expected = torchvision_resize(from, n);
    if (std::max(expected.width, expected.height) > Transform::kMaxResize) continue;
    const ResizePlan shorter = plan(from, resizing(ResizeMode::shorter, n));
    CHECK(shorter.scaled == expected);
    CHECK(shorter.kept == Rect{0, 0, expected.width, expected.height});
    const ResizePlan cropped = plan(from, resizing(ResizeMode::center_crop, n));
    CHECK(cropped.scaled == expected);
    CHECK(cropped.kept == Rect{torchvision_margin(expected.width, n), torchvision_margin(expected.height, n), n, n});
    CHECK(lies_in(cropped.kept, cropped.scaled));
  }
}

TEST_CASE("longer keeps the proportion, too, and no side vanishes") {
  CHECK(plan({500, 375}, resizing(ResizeMode::longer, 256)).scaled == Size{256, 192});
  CHECK(plan({375, 500}, resizing(ResizeMode::longer, 256)).scaled == Size{192, 256});
  CHECK(plan({300, 300}, resizing(ResizeMode::longer, 256)).scaled == Size{256, 256});
  CHECK(plan({4000, 2}, resizing(ResizeMode::longer, 100)).scaled == Size{100, 1});
  CHECK(plan({2, 4000}, resizing(ResizeMode::longer, 100)).scaled == Size{1, 100});
  CHECK(kept_size(plan({4000, 2}, resizing(ResizeMode::longer, 100))) == Size{100, 1});
}

TEST_CASE("exact is exact") {
  for (const Size from : {Size{1, 1}, {500, 375}, {4000, 2}}) {
    const ResizePlan exact = plan(from, resizing(ResizeMode::exact, 32));
    CHECK(exact.scaled == Size{32, 32});
    CHECK(exact.kept == Rect{0, 0, 32, 32});
  }
}

TEST_CASE("without upscale smaller images stay, or are refused where all have to have one size") {
  const Size small{100, 80};
  for (const auto& [mode, n] : {std::pair{ResizeMode::shorter, 81u}, {ResizeMode::longer, 101u}}) {
    const ResizePlan stays = plan(small, resizing(mode, n, false));
    CHECK(stays.scaled == small);
    CHECK_FALSE(stays.changes(small));
    CHECK(plan(small, resizing(mode, n, true)).changes(small));
  }
  // Just large enough.
  CHECK(plan(small, resizing(ResizeMode::shorter, 80, false)).scaled == small);
  CHECK(plan(small, resizing(ResizeMode::longer, 100, false)).scaled == small);
  CHECK(plan(small, resizing(ResizeMode::longer, 90, false)).scaled == Size{90, 72});
  CHECK(plan(small, resizing(ResizeMode::center_crop, 80, false)).kept == Rect{10, 0, 80, 80});
  CHECK(plan(small, resizing(ResizeMode::center_crop, 80, false)).changes(small));
  for (const ResizeMode mode : {ResizeMode::exact, ResizeMode::center_crop}) {
    const std::string reason = refusal(small, resizing(mode, 81, false));
    CAPTURE(reason);
    CHECK(reason.find("100x80") != std::string::npos);
    CHECK(reason.find("--upscale") != std::string::npos);
  }
}

TEST_CASE("images so narrow that a side would grow out of bounds are refused") {
  const Transform transform = resizing(ResizeMode::shorter, 512);
  CHECK(refusal({1, 200}, transform).find("too narrow") != std::string::npos);
  CHECK(refusal({60'000, 1}, resizing(ResizeMode::center_crop, 2)).find("too narrow") != std::string::npos);
  CHECK(plan({1, 127}, transform).scaled == Size{512, 127 * 512});
}

TEST_CASE("images wider than resizing can take are refused") {
  CHECK_FALSE(refusal({20'000'000, 1}, resizing(ResizeMode::longer, 32)).empty());
  CHECK_FALSE(refusal({1, 4'000'000'000}, resizing(ResizeMode::shorter, 512)).empty());
  CHECK_FALSE(refusal({1, 20'000'000}, resizing(ResizeMode::exact, 32)).empty());
}

TEST_CASE("without a size nothing changes") {
  const ResizePlan same = plan({7, 5}, {.encode = Encode::raw});
  CHECK(same.scaled == Size{7, 5});
  CHECK_FALSE(same.changes({7, 5}));
}

}  // namespace imgpack
