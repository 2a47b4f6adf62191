// A contact sheet: thumbnails in a grid, under headings, each with a caption.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/image.h"
#include "tools/view/collection.h"
#include "tools/view/record_choice.h"

namespace imgpack::tools {

struct SheetOptions {
  std::uint32_t size = 160;   ///< of a thumbnail's longer side, pixels
  std::uint32_t columns = 0;  ///< 0: as many as make a sheet of a common width
  std::uint64_t max_pixels = kDefaultMaxPixels;
  unsigned threads = 0;
  std::string title;
};

/// A record that was to be shown and is damaged.
struct ShownDamage {
  std::uint64_t record = 0;
  std::string reason;
};

struct Sheet {
  RgbImage image;
  std::vector<ShownDamage> damage;  ///< by record
};

/// Groups have headings, unless there are many of only one or two pictures. Throws invalid_argument, saying what to
/// change, for a sheet of more than kMostSheetPixels or of sides that image files can't have. Memory: the sheet, and
/// what decoding takes for each thread.
Sheet make_contact_sheet(const Collection& collection, const std::vector<ShownGroup>& groups,
                         const SheetOptions& options);

inline constexpr std::uint64_t kMostSheetPixels = 200'000'000;

}  // namespace imgpack::tools
