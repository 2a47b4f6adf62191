#include "tools/view/contact_sheet.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "imgpack/transform.h"
#include "tools/text.h"
#include "tools/view/drawing.h"
#include "tools/view/thumbnails.h"

namespace imgpack::tools {

namespace {

constexpr Colour kPaper{0xfa, 0xfa, 0xf8};
constexpr Colour kTile{0xee, 0xee, 0xea};
constexpr Colour kRule{0xdc, 0xdc, 0xd6};
constexpr Colour kInk{0x24, 0x26, 0x2a};
constexpr Colour kFaint{0x6c, 0x70, 0x78};
constexpr Colour kAlarm{0xb4, 0x23, 0x18};

constexpr TextStyle kTitle{.height = 16, .pen = 2.2, .colour = kInk};
constexpr TextStyle kHeading{.height = 11, .pen = 1.7, .colour = kInk};
constexpr TextStyle kCount{.height = 9, .pen = 1.3, .colour = kFaint};
constexpr TextStyle kKey{.height = 9, .pen = 1.4, .colour = kInk};
constexpr TextStyle kDetail{.height = 8.5, .pen = 1.2, .colour = kFaint};

constexpr std::uint32_t kMargin = 32;
constexpr std::uint32_t kGap = 18;  ///< between cells
constexpr std::uint32_t kTitleHeight = 44;
constexpr std::uint32_t kHeadingHeight = 44;
constexpr std::uint32_t kLine = 17;
constexpr std::uint32_t kCaptionHeight = 3 * kLine + 8;
constexpr std::uint32_t kUsualWidth = 1600;
constexpr std::uint32_t kFrame = 3;

/// Where a record goes.
struct Cell {
  std::uint64_t record = 0;
  std::uint32_t x = 0;
  std::uint32_t y = 0;
};

struct Layout {
  std::uint32_t columns = 1;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::vector<Cell> cells;
  std::vector<std::uint64_t> headings;  ///< y of each group's; empty if groups have no names
};

std::uint32_t columns_for(const std::vector<ShownGroup>& groups, const SheetOptions& options) {
  if (options.columns != 0) return options.columns;
  const std::uint32_t fitting = std::max(1u, (kUsualWidth - 2 * kMargin + kGap) / (options.size + kGap));
  std::size_t most = 1;
  for (const ShownGroup& group : groups) most = std::max(most, group.shown.size());
  const std::uint32_t needed = static_cast<std::uint32_t>(std::min<std::size_t>(most, fitting));
  return std::max(needed, std::min(fitting, 4u));
}

Layout lay_out(const std::vector<ShownGroup>& groups, const SheetOptions& options) {
  Layout layout;
  layout.columns = columns_for(groups, options);
  const std::uint64_t step = std::uint64_t{options.size} + kGap;
  layout.width = std::uint64_t{2} * kMargin + layout.columns * step - kGap;
  const std::uint64_t row_height = std::uint64_t{options.size} + kCaptionHeight + kGap;
  std::uint64_t y = kMargin + kTitleHeight;
  const auto check = [&](std::uint64_t height) {
    const bool too_large = height > Transform::kMaxResize || layout.width > Transform::kMaxResize ||
                           height * layout.width > kMostSheetPixels;
    if (!too_large) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the sheet would have {}x{} pixels or more; a smaller --limit, --size or --columns makes "
                            "one of at most {} million pixels and {} a side",
                            layout.width, height, kMostSheetPixels / 1'000'000, Transform::kMaxResize));
  };
  check(y);
  for (const ShownGroup& group : groups) {
    if (!group.name.empty()) {
      layout.headings.push_back(y);
      y += kHeadingHeight;
    }
    const std::uint64_t rows = (group.shown.size() + layout.columns - 1) / layout.columns;
    check(y + rows * row_height);
    for (std::size_t i = 0; i < group.shown.size(); ++i) {
      layout.cells.push_back({group.shown[i], static_cast<std::uint32_t>(kMargin + i % layout.columns * step),
                              static_cast<std::uint32_t>(y + i / layout.columns * row_height)});
    }
    y += rows * row_height;
  }
  layout.height = y + kMargin - kGap;
  check(layout.height);
  return layout;
}

struct Caption {
  std::string key;
  std::string name;  ///< of class and split
  std::string size;
};

Caption caption_of(const Collection& collection, std::uint64_t record) {
  Caption caption{.key = fmt::format("record {}", record), .name = "", .size = ""};
  try {
    const RecordMeta meta = collection.meta(record);
    caption.size =
        fmt::format("{}\u00d7{} \u00b7 {}", meta.width, meta.height, size_text(static_cast<double>(meta.payload_size)));
    if (const auto item = collection.class_of(record, meta)) caption.name = printable(collection.classes()[*item].name);
    if (const auto split = collection.split_of(record)) {
      caption.name += (caption.name.empty() ? "" : " \u00b7 ") + printable(collection.splits()[*split]);
    }
    caption.key = printable(collection.key(record).substr(0, 1000));
    if (caption.key.empty()) caption.key = "(empty key)";
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
  }
  return caption;
}

class SheetPainter {
 public:
  SheetPainter(const Collection& collection, const SheetOptions& options, RgbView image)
      : collection_(collection), options_(options), image_(image) {}

  void draw_headings(const std::vector<ShownGroup>& groups, const Layout& layout) {
    fill(image_, {0, 0, image_.width, image_.height}, kPaper);
    const double room = image_.width - 2.0 * kMargin;
    draw_text(image_, kMargin, kMargin + kTitle.height, fit_text(options_.title, room, kTitle, false), kTitle);
    for (std::size_t i = 0; i < layout.headings.size(); ++i) {
      const ShownGroup& group = groups[i];
      const auto y = static_cast<std::uint32_t>(layout.headings[i]);
      fill(image_, {kMargin, y, image_.width - 2 * kMargin, 1}, kRule);
      const double baseline = y + 12.0 + kHeading.height;
      const std::string count =
          group.shown.size() == group.records
              ? count_text(group.records)
              : fmt::format("{} of {}", count_text(group.shown.size()), count_text(group.records));
      const double count_width = text_width(count, kCount) + 12;
      const std::string name = fit_text(printable(group.name), room - count_width, kHeading, false);
      draw_text(image_, kMargin, baseline, name, kHeading);
      draw_text(image_, kMargin + text_width(name, kHeading) + 12, baseline, count, kCount);
    }
  }

  void draw_cell(const Cell& cell, const Thumbnail& thumbnail) {
    const std::uint32_t side = options_.size;
    const Rect tile{cell.x, cell.y, side, side};
    fill(image_, tile, kTile);
    const Size size = thumbnail.image.size();
    paste(image_, cell.x + (side - size.width) / 2, cell.y + (side - size.height) / 2, thumbnail.image.view());
    const bool partial = !thumbnail.problem.empty();
    if (thumbnail.damaged) draw_frame(image_, tile, kFrame, kAlarm);
    const Caption caption = caption_of(collection_, cell.record);
    double baseline = cell.y + side + 8 + kKey.height;
    write_line(cell.x, baseline, caption.key, kKey, true);
    std::vector<std::string> lines;
    if (!caption.name.empty()) lines.push_back(caption.name);
    if (!partial || lines.empty()) lines.push_back(caption.size);
    for (const std::string& line : lines) write_line(cell.x, baseline += kLine, line, kDetail, false);
    if (!partial) return;
    TextStyle last = kDetail;
    if (thumbnail.damaged) last.colour = kAlarm;
    write_line(cell.x, baseline + kLine, printable(thumbnail.problem), last, false);
  }

 private:
  void write_line(std::uint32_t x, double baseline, const std::string& text, const TextStyle& style, bool keep_end) {
    draw_text(image_, x, baseline, fit_text(text, options_.size, style, keep_end), style);
  }

  const Collection& collection_;
  const SheetOptions& options_;
  RgbView image_;
};

/// Many groups of a picture or two would be more headings than pictures: then they follow each other, and captions say
/// what they are.
std::vector<ShownGroup> without_needless_headings(std::vector<ShownGroup> groups) {
  constexpr std::size_t kFewGroups = 8;
  constexpr std::size_t kFewPictures = 3;
  ShownGroup joined;
  for (const ShownGroup& group : groups) {
    joined.records += group.records;
    joined.shown.insert(joined.shown.end(), group.shown.begin(), group.shown.end());
  }
  if (groups.size() <= kFewGroups || joined.shown.size() >= groups.size() * kFewPictures) return groups;
  groups.clear();
  groups.push_back(std::move(joined));
  return groups;
}

}  // namespace

Sheet make_contact_sheet(const Collection& collection, const std::vector<ShownGroup>& chosen,
                         const SheetOptions& options) {
  const std::vector<ShownGroup> groups = without_needless_headings(chosen);
  const Layout layout = lay_out(groups, options);
  Sheet sheet;
  const RgbView image =
      sheet.image.resize({static_cast<std::uint32_t>(layout.width), static_cast<std::uint32_t>(layout.height)});
  SheetPainter painter(collection, options, image);
  painter.draw_headings(groups, layout);
  std::vector<std::uint64_t> records;
  for (const Cell& cell : layout.cells) records.push_back(cell.record);
  make_thumbnails(collection, records, options.size, options.max_pixels, options.threads,
                  [&](std::size_t at, Thumbnail thumbnail) {
                    painter.draw_cell(layout.cells[at], std::as_const(thumbnail));
                    if (thumbnail.damaged) sheet.damage.push_back({records[at], std::move(thumbnail.problem)});
                  });
  std::ranges::sort(sheet.damage, {}, &ShownDamage::record);
  return sheet;
}

}  // namespace imgpack::tools
