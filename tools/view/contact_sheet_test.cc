#include "tools/view/contact_sheet.h"

#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"
#include "tools/view/drawing.h"
#include "tools/view/thumbnails.h"
#include "tools/view/view_testing.h"

namespace imgpack::tools {

namespace {

/// Pixels that are not farther from `colour` than `distance` in any channel.
std::size_t count_near(const RgbImage& image, Colour colour, int distance = 40) {
  std::size_t count = 0;
  const auto near = [distance](int a, int b) { return a - b <= distance && b - a <= distance; };
  for (std::uint32_t y = 0; y < image.size().height; ++y) {
    const std::uint8_t* pixel = image.view().row(y);
    for (std::uint32_t x = 0; x < image.size().width; ++x, pixel += 3) {
      count += near(pixel[0], colour.red) && near(pixel[1], colour.green) && near(pixel[2], colour.blue) ? 1u : 0u;
    }
  }
  return count;
}

RgbImage written(std::string_view text) {
  RgbImage image;
  const RgbView view = image.resize({200, 20});
  fill(view, {0, 0, 200, 20}, {255, 255, 255});
  draw_text(view, 2, 15, text, {.height = 10, .pen = 1.5, .colour = {0, 0, 0}});
  return image;
}

constexpr TextStyle kStyle{.height = 9, .pen = 1.3, .colour = {0, 0, 0}};
constexpr Colour kAlarm{0xb4, 0x23, 0x18};

}  // namespace

TEST_CASE("text has ink, different for different letters, and is clipped") {
  CHECK(count_near(written(" "), {0, 0, 0}) == 0);
  CHECK(count_near(written("Hello"), {0, 0, 0}) > 30);
  for (char32_t a = '!'; a < '~'; ++a) {
    CAPTURE(static_cast<char>(a));
    const RgbImage one = written(std::string(1, static_cast<char>(a)));
    const RgbImage next = written(std::string(1, static_cast<char>(a + 1)));
    CHECK_FALSE(std::ranges::equal(one.bytes(), next.bytes()));
  }
  CHECK(std::ranges::equal(written("\xff").bytes(), written("\xe4\xb8\xad").bytes()));  // both are a box
  RgbImage small;
  const RgbView view = small.resize({4, 4});
  fill(view, {0, 0, 4, 4}, {255, 255, 255});
  draw_text(view, -20, 2, "outside on every side", {.height = 40, .pen = 4, .colour = {0, 0, 0}});
}

TEST_CASE("text is cut to a width, between characters") {
  CHECK(text_width("", kStyle) == 0);
  CHECK(text_width("mm", kStyle) > text_width("ii", kStyle));
  CHECK(fit_text("short", 500, kStyle, true) == "short");
  const std::string end = fit_text("a/long/path/to/image.JPEG", 80, kStyle, true);
  CHECK(end.starts_with("\u2026"));
  CHECK(end.ends_with("image.JPEG"));
  CHECK(text_width(end, kStyle) <= 80);
  const std::string begin =
      fit_text("\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc", 40, kStyle, false);
  CHECK(begin.ends_with("\u2026"));
  CHECK(begin.size() % 2 == 1);  // two bytes a letter, three for the ellipsis
  CHECK(fit_text("anything", 1, kStyle, false).empty());
}

TEST_CASE("thumbnails keep the proportion and are never enlarged") {
  CHECK(thumbnail_size({400, 200}, 100) == Size{100, 50});
  CHECK(thumbnail_size({200, 400}, 100) == Size{50, 100});
  CHECK(thumbnail_size({40, 20}, 100) == Size{40, 20});
  CHECK(thumbnail_size({4000, 1}, 100) == Size{100, 1});
}

TEST_CASE("a sheet shows every record, and says which are damaged") {
  const testing::TempDir temp;
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 7; ++i) {
    records.push_back({.key = fmt::format("key{}", i), .payload = testing::make_jpeg(90, 60, i), .label = i % 2});
  }
  testing::write_view_records(temp / "a.rec", records);
  const auto sheet_of = [&](const SheetOptions& options) {
    const Collection all = Collection::open({temp / "a.rec"}, {});
    return make_contact_sheet(all, choose_records(all, {.by = ShowBy::name_of_class}), options);
  };
  const Sheet good = sheet_of({.size = 64, .columns = 4, .title = "title"});
  CHECK(good.damage.empty());
  CHECK(good.image.size().width == 2 * 32 + 4 * 64 + 3 * 18);
  CHECK(count_near(good.image, kAlarm, 0) == 0);
  const Sheet narrow = sheet_of({.size = 64, .columns = 1, .title = "title"});
  CHECK(narrow.image.size().height > good.image.size().height);
  const Sheet bounded = sheet_of({.size = 64, .columns = 4, .max_pixels = 100, .title = "title"});
  CHECK(bounded.damage.empty());  // too large is not damaged

  testing::damage_record(temp / "a.rec", 3);
  const Sheet damaged = sheet_of({.size = 64, .columns = 4, .title = "title"});
  REQUIRE(damaged.damage.size() == 1);
  CHECK(damaged.damage[0].record == 3);
  CHECK(count_near(damaged.image, kAlarm, 0) > 4 * 64);  // the frame

  const Error error = testing::error_of([&] { sheet_of({.size = 2048, .columns = 1000}); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.message().find("--limit") != std::string::npos);
}

}  // namespace imgpack::tools
