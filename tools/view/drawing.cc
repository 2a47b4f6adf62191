#include "tools/view/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tools/view/stroke_font.h"

namespace imgpack::tools {

namespace {

/// Letters are a little narrower than their grid is high, and stand so far apart (on the grid).
constexpr double kAspect = 0.92;
constexpr double kGap = 1.7;
constexpr double kSpaceWidth = 1.6;
constexpr std::string_view kEllipsis = "\u2026";

struct Point {
  double x = 0;
  double y = 0;
};

struct Segment {
  Point from;
  Point to;
};

double distance(const Point& point, const Segment& segment) {
  const double dx = segment.to.x - segment.from.x;
  const double dy = segment.to.y - segment.from.y;
  const double length = dx * dx + dy * dy;
  double t = 0;
  if (length > 0) {
    t = std::clamp(((point.x - segment.from.x) * dx + (point.y - segment.from.y) * dy) / length, 0.0, 1.0);
  }
  return std::hypot(point.x - segment.from.x - t * dx, point.y - segment.from.y - t * dy);
}

/// Well-formed UTF-8 becomes code points; other bytes become U+FFFD.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (i + length > text.size() || (lead >= 0x80 && lead < 0xc0)) {
      points.push_back(U'\ufffd');
      ++i;
      continue;
    }
    char32_t point = length == 1 ? lead : static_cast<char32_t>(lead & (0xff >> (length + 1)));
    for (std::size_t k = 1; k < length; ++k) point = point << 6 | (static_cast<std::uint8_t>(text[i + k]) & 0x3f);
    points.push_back(point);
    i += length;
  }
  return points;
}

/// On the grid.
double glyph_width(std::string_view strokes) {
  if (strokes.empty()) return kSpaceWidth;
  int width = 0;
  for (std::size_t i = 0; i + 1 < strokes.size(); i += 3) width = std::max(width, strokes[i] - '0');
  return width;
}

std::vector<Segment> segments_of(std::string_view strokes, Point origin, double unit) {
  std::vector<Segment> segments;
  Point last;
  bool begins = true;
  for (std::size_t i = 0; i + 1 < strokes.size(); i += 3) {
    const Point point{origin.x + (strokes[i] - '0') * unit * kAspect, origin.y + (strokes[i + 1] - '0') * unit};
    if (!begins) segments.push_back({last, point});
    last = point;
    begins = i + 2 < strokes.size() && strokes[i + 2] == ',';
  }
  return segments;
}

void blend(std::uint8_t* pixel, Colour colour, double share) {
  const auto mix = [share](std::uint8_t from, std::uint8_t to) {
    return static_cast<std::uint8_t>(std::lround(from + (to - from) * share));
  };
  pixel[0] = mix(pixel[0], colour.red);
  pixel[1] = mix(pixel[1], colour.green);
  pixel[2] = mix(pixel[2], colour.blue);
}

/// Every pixel near a stroke gets as much of the colour as the pen covers of it.
void draw_strokes(RgbView image, const std::vector<Segment>& segments, const TextStyle& style) {
  if (segments.empty()) return;
  Point least = segments.front().from;
  Point most = least;
  for (const Segment& segment : segments) {
    least = {std::min({least.x, segment.from.x, segment.to.x}), std::min({least.y, segment.from.y, segment.to.y})};
    most = {std::max({most.x, segment.from.x, segment.to.x}), std::max({most.y, segment.from.y, segment.to.y})};
  }
  const auto inside = [](double value, std::uint32_t end) {
    return static_cast<std::uint32_t>(std::clamp(value, 0.0, static_cast<double>(end)));
  };
  const std::uint32_t end_x = inside(most.x + style.pen + 2, image.width);
  const std::uint32_t end_y = inside(most.y + style.pen + 2, image.height);
  for (std::uint32_t y = inside(least.y - style.pen - 1, image.height); y < end_y; ++y) {
    for (std::uint32_t x = inside(least.x - style.pen - 1, image.width); x < end_x; ++x) {
      double nearest = std::numeric_limits<double>::max();
      for (const Segment& segment : segments) nearest = std::min(nearest, distance({x + 0.5, y + 0.5}, segment));
      const double share = std::clamp(style.pen / 2 + 0.5 - nearest, 0.0, 1.0);
      if (share > 0) blend(image.row(y) + std::size_t{x} * RgbImage::kChannels, style.colour, share);
    }
  }
}

double width_of(std::u32string_view points, const TextStyle& style) {
  double width = 0;
  for (const char32_t point : points) width += glyph_width(strokes_of(point)) + kGap;
  const double unit = style.height / kCapitalHeight * kAspect;
  return points.empty() ? 0 : (width - kGap) * unit;
}

}  // namespace

void fill(RgbView image, const Rect& area, Colour colour) {
  const std::uint32_t end_x = std::min(image.width, area.x + area.width);
  const std::uint32_t end_y = std::min(image.height, area.y + area.height);
  for (std::uint32_t y = area.y; y < end_y; ++y) {
    std::uint8_t* pixel = image.row(y) + std::size_t{area.x} * RgbImage::kChannels;
    for (std::uint32_t x = area.x; x < end_x; ++x, pixel += RgbImage::kChannels) blend(pixel, colour, 1);
  }
}

void draw_frame(RgbView image, const Rect& area, std::uint32_t thickness, Colour colour) {
  const std::uint32_t left = area.x - std::min(area.x, thickness);
  const std::uint32_t top = area.y - std::min(area.y, thickness);
  const std::uint32_t width = area.x - left + area.width + thickness;
  fill(image, {left, top, width, area.y - top}, colour);
  fill(image, {left, area.y + area.height, width, thickness}, colour);
  fill(image, {left, area.y, area.x - left, area.height}, colour);
  fill(image, {area.x + area.width, area.y, thickness, area.height}, colour);
}

void paste(RgbView image, std::uint32_t x, std::uint32_t y, ConstRgbView picture) {
  if (x >= image.width) return;
  const std::size_t bytes = std::size_t{std::min(picture.width, image.width - x)} * RgbImage::kChannels;
  for (std::uint32_t row = 0; row < picture.height && y + row < image.height; ++row) {
    std::memcpy(image.row(y + row) + std::size_t{x} * RgbImage::kChannels, picture.row(row), bytes);
  }
}

void draw_text(RgbView image, double x, double baseline, std::string_view text, const TextStyle& style) {
  const double unit = style.height / kCapitalHeight;
  for (const char32_t point : code_points(text)) {
    const std::string_view strokes = strokes_of(point);
    draw_strokes(image, segments_of(strokes, {x, baseline - style.height}, unit), style);
    x += (glyph_width(strokes) + kGap) * unit * kAspect;
  }
}

double text_width(std::string_view text, const TextStyle& style) {
  return width_of(code_points(text), style);
}

std::string fit_text(std::string_view text, double width, const TextStyle& style, bool keep_end) {
  if (text_width(text, style) <= width) return std::string(text);
  std::string shorter(text);
  const auto continues = [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80; };
  while (!shorter.empty()) {
    if (keep_end) {
      std::size_t first = 1;
      while (first < shorter.size() && continues(shorter[first])) ++first;
      shorter.erase(0, first);
    } else {
      std::size_t last = shorter.size() - 1;
      while (last > 0 && continues(shorter[last])) --last;
      shorter.resize(last);
    }
    std::string candidate = keep_end ? std::string(kEllipsis) + shorter : shorter + std::string(kEllipsis);
    if (text_width(candidate, style) <= width) return candidate;
  }
  return {};
}

}  // namespace imgpack::tools
