// A folder with images of every kind, the variants that a build can make of them, and what each should give, put
// together by hand from the codecs' functions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/image.h"
#include "imgpack/record.h"
#include "imgpack/transform.h"

namespace imgpack::testing {

struct Variant {
  std::string name;
  Transform transform;
};

/// Every option, and combinations of them.
std::vector<Variant> variants();

/// train/ and val/ with two classes: JPEG files of all sorts, upright and turned by EXIF, and all other types.
void make_mixed_folder(const std::filesystem::path& folder);

struct VariantRecord {
  Codec codec = Codec::unknown;
  std::uint8_t channels = 0;
  bool indexed = false;
  bool same_bytes = false;  ///< the payload is the file
  RgbImage pixels;
};

/// What `transform` should make of a file; nothing where it can't be applied.
std::optional<VariantRecord> make_by_hand(std::span<const std::byte> file, const Transform& transform);

}  // namespace imgpack::testing
