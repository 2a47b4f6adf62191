#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "codec/headers/headers.h"
#include "codec/headers/tiff_directory.h"
#include "codec/headers/tiff_layouts.h"

namespace imgpack::headers {

namespace {

enum Tag : std::uint16_t {
  kImageWidth = 256,
  kImageLength = 257,
  kBitsPerSample = 258,
  kCompression = 259,
  kPhotometric = 262,
  kFillOrder = 266,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamplesPerPixel = 277,
  kRowsPerStrip = 278,
  kXResolution = 282,
  kYResolution = 283,
  kPlanarConfiguration = 284,
  kResolutionUnit = 296,
  kColourMap = 320,
  kTileWidth = 322,
  kTileLength = 323,
  kTileOffsets = 324,
  kExtraSamples = 338,
  kSampleFormat = 339,
  kMediaPhoto = 0xbc01,
};

constexpr double kUncompressed = 1;
constexpr double kOldJpeg = 6;
constexpr double kYcbcr = 6;
constexpr double kCentimetre = 3;
constexpr double kSeparatePlanes = 2;
constexpr std::array<double, 17> kCompressions = {1,     2,     3,     4,     5,     6,     7,     8,    32771,
                                                  32773, 32809, 32946, 34676, 34677, 34925, 50000, 50001};

constexpr std::size_t kMaxSamples = 6;
constexpr std::size_t kMaxExtraSamples = 3;

Refusal not_a_number(std::string_view tag) {
  return malformed(fmt::format("TIFF has a {} tag that is not a number", tag));
}

Refusal unknown_layout() {
  return malformed("TIFF has a sample layout that is not supported");
}

class TiffHeaderParser {
 public:
  TiffHeaderParser(Bytes bytes, const TiffPreamble& preamble)
      : tags_(bytes, preamble,
              {kImageWidth,          kImageLength,    kBitsPerSample,   kCompression,  kPhotometric, kFillOrder,
               kStripOffsets,        kOrientation,    kSamplesPerPixel, kRowsPerStrip, kXResolution, kYResolution,
               kPlanarConfiguration, kResolutionUnit, kColourMap,       kTileWidth,    kTileLength,  kTileOffsets,
               kExtraSamples,        kSampleFormat,   kMediaPhoto}),
        big_endian_(preamble.big_endian) {}

  ParseResult parse();

 private:
  std::optional<Refusal> read_size();
  bool lies_on_its_side() const;
  std::optional<Refusal> read_layout();
  std::optional<Refusal> read_samples();
  std::optional<Refusal> check_resolution() const;
  std::optional<Refusal> check_pieces() const;
  std::optional<Refusal> check_planes(const TiffValues& offsets, double piece_width, double piece_height) const;
  std::optional<Refusal> check_palette() const;

  TiffDirectory tags_;
  bool big_endian_;
  double width_ = 0;
  double height_ = 0;
  double compression_ = kUncompressed;
  TiffLayout layout_;
  std::array<double, kMaxSamples> bits_{};
  std::array<double, kMaxExtraSamples> extra_samples_{};
  double sample_format_ = 1;
  TiffPixels pixels_;
};

ParseResult TiffHeaderParser::parse() {
  if (tags_[kMediaPhoto].present()) return malformed("TIFF is a Windows Media Photo, which is not supported");
  using Part = std::optional<Refusal> (TiffHeaderParser::*)();
  for (const Part part : {&TiffHeaderParser::read_size, &TiffHeaderParser::read_layout}) {
    if (std::optional<Refusal> refusal = (this->*part)()) return *std::move(refusal);
  }
  using Check = std::optional<Refusal> (TiffHeaderParser::*)() const;
  for (const Check check :
       {&TiffHeaderParser::check_resolution, &TiffHeaderParser::check_pieces, &TiffHeaderParser::check_palette}) {
    if (std::optional<Refusal> refusal = (this->*check)()) return *std::move(refusal);
  }
  if (lies_on_its_side()) std::swap(width_, height_);
  return ParsedHeader{static_cast<std::uint64_t>(width_), static_cast<std::uint64_t>(height_), pixels_.channels};
}

/// Decoders turn TIFF upright, so that these are the sides of the decoded image.
bool TiffHeaderParser::lies_on_its_side() const {
  const TiffValues& orientation = tags_[kOrientation];
  if (!orientation.is_integer()) return false;
  return orientation.number() >= 5 && orientation.number() <= 8;
}

std::optional<Refusal> TiffHeaderParser::read_size() {
  for (auto [tag, name, side] :
       {std::tuple{kImageWidth, "ImageWidth", &width_}, std::tuple{kImageLength, "ImageLength", &height_}}) {
    const TiffValues& values = tags_[tag];
    if (!values.present()) return malformed(fmt::format("TIFF has no {} tag in its first directory", name));
    if (!values.is_number()) return not_a_number(name);
    *side = std::trunc(values.number());
    constexpr double kLargestSide = 9007199254740992.0;  // 2^53: exact, and far beyond every limit
    if (!(*side <= kLargestSide)) return malformed(fmt::format("TIFF has an impossible {} tag", name));
    *side = std::max(*side, 0.0);
  }
  return std::nullopt;
}

std::optional<Refusal> TiffHeaderParser::read_layout() {
  const std::optional<double> compression = tags_[kCompression].number_or(kUncompressed);
  if (!compression) return not_a_number("Compression");
  if (std::find(kCompressions.begin(), kCompressions.end(), *compression) == kCompressions.end()) {
    return malformed(fmt::format("TIFF has compression {}, which is not supported", *compression));
  }
  compression_ = *compression;

  // A missing photometric interpretation stands for white is zero; old JPEG compression is YCbCr whatever it says.
  const std::optional<double> photometric = compression_ == kOldJpeg ? kYcbcr : tags_[kPhotometric].number_or(0);
  if (!photometric) return not_a_number("PhotometricInterpretation");
  layout_.photometric = *photometric;
  const std::optional<double> fill_order = tags_[kFillOrder].number_or(1);
  if (!fill_order) return not_a_number("FillOrder");
  layout_.fill_order = *fill_order;
  layout_.big_endian = big_endian_;
  if (std::optional<Refusal> refusal = read_samples()) return refusal;
  pixels_ = find_tiff_pixels(layout_);
  return pixels_.channels == 0 ? std::optional(unknown_layout()) : std::nullopt;
}

std::optional<Refusal> TiffHeaderParser::read_samples() {
  // Sample formats that are all 1 stand for a single 1, also when written as bytes.
  const TiffValues& formats = tags_[kSampleFormat];
  const std::uint64_t format_count = formats.count();
  if (formats.is_byte_list() && format_count > 1) {
    const Bytes data = formats.data();
    if (std::any_of(data.begin(), data.end(), [](std::byte b) { return b != std::byte{1}; })) return unknown_layout();
  } else if (formats.present()) {
    if (!formats.is_number()) return not_a_number("SampleFormat");
    sample_format_ = formats.number();
    for (std::uint64_t i = 1; i < format_count; ++i) {
      const double format = formats.number(i);
      if (std::isnan(format)) return not_a_number("SampleFormat");
      if (sample_format_ != 1 || format != 1) return unknown_layout();
    }
  }
  layout_.sample_format = sample_format_;

  const TiffValues& extra = tags_[kExtraSamples];
  if (extra.present() && !extra.is_number()) return not_a_number("ExtraSamples");
  if (extra.count() > kMaxExtraSamples) return unknown_layout();
  for (std::size_t i = 0; i < extra.count(); ++i) extra_samples_[i] = extra.number(i);
  layout_.extra_samples = std::span(extra_samples_).first(static_cast<std::size_t>(extra.count()));

  const TiffValues& samples_tag = tags_[kSamplesPerPixel];
  const std::optional<double> samples = samples_tag.number_or(compression_ == kOldJpeg ? 3 : 1);
  if (!samples) return not_a_number("SamplesPerPixel");
  if (!(*samples >= 1 && *samples <= kMaxSamples) || std::trunc(*samples) != *samples) {
    return malformed(fmt::format("TIFF has {} samples a pixel", *samples));
  }
  const TiffValues& bits = tags_[kBitsPerSample];
  if (bits.present() && !bits.is_number()) return not_a_number("BitsPerSample");
  const std::uint64_t bits_count = bits.present() ? bits.count() : 1;
  const auto sample_count = static_cast<std::size_t>(*samples);
  // Superfluous bit depths are ignored, and a single one counts for all samples.
  if (bits_count < sample_count && bits_count != 1) return unknown_layout();
  if (bits_count != sample_count && samples_tag.present() && !samples_tag.is_integer()) {
    return not_a_number("SamplesPerPixel");
  }
  for (std::size_t i = 0; i < sample_count; ++i) {
    bits_[i] = bits.present() ? bits.number(bits_count == 1 ? 0 : i) : 1;
  }
  layout_.bits = std::span(bits_).first(sample_count);
  return std::nullopt;
}

std::optional<Refusal> TiffHeaderParser::check_resolution() const {
  if (tags_[kResolutionUnit].number_or(0) != kCentimetre) return std::nullopt;
  // Dots a centimetre are converted, which goes wrong if there are both and one is not a number.
  bool all_numbers = true;
  for (const Tag tag : {kXResolution, kYResolution}) {
    const TiffValues& resolution = tags_[tag];
    if (!resolution.present()) continue;
    if (resolution.is_number()) {
      if (resolution.number() == 0) return std::nullopt;
    } else {
      const bool empty_text =
          resolution.is_text() && resolution.data().size() == 1 && byte_at(resolution.data(), 0) == 0;
      if (empty_text) return std::nullopt;
      all_numbers = false;
    }
  }
  return all_numbers ? std::nullopt : std::optional(not_a_number("resolution"));
}

std::optional<Refusal> TiffHeaderParser::check_pieces() const {
  if (compression_ != kUncompressed) return std::nullopt;  // libtiff finds the pieces when it decodes
  const bool strips = tags_[kStripOffsets].present();
  const TiffValues& offsets = tags_[strips ? kStripOffsets : kTileOffsets];
  if (!offsets.present()) return malformed("TIFF says neither where its strips nor where its tiles are");
  std::optional<double> width = width_;
  std::optional<double> height = tags_[kRowsPerStrip].number_or(height_);
  if (!strips) {
    if (!tags_[kTileWidth].present() || !tags_[kTileLength].present())
      return malformed("TIFF has tiles without a size");
    width = tags_[kTileWidth].number_or(0);
    height = tags_[kTileLength].number_or(0);
  }
  if (!width || !height || !std::isfinite(*width) || !std::isfinite(*height)) {
    return not_a_number(strips ? "RowsPerStrip" : "tile size");
  }
  if (tags_[kPlanarConfiguration].number_or(1) == kSeparatePlanes) return check_planes(offsets, *width, *height);
  return std::nullopt;
}

/// Pieces fill one plane after the other, from left to right and from top to bottom; none may lie in a plane that the
/// layout does not have.
std::optional<Refusal> TiffHeaderParser::check_planes(const TiffValues& offsets, double piece_width,
                                                      double piece_height) const {
  double x = 0;
  double y = 0;
  std::uint64_t plane = 0;
  for (std::uint64_t i = 0; i < offsets.count(); ++i) {
    if (plane >= pixels_.max_planes) return malformed("TIFF has more strips or tiles than its planes need");
    x += piece_width;
    if (x < width_) continue;
    x = 0;
    y += piece_height;
    if (y < height_) continue;
    y = 0;
    ++plane;
  }
  return std::nullopt;
}

std::optional<Refusal> TiffHeaderParser::check_palette() const {
  if (!pixels_.palette) return std::nullopt;
  const TiffValues& palette = tags_[kColourMap];
  if (!palette.present()) return malformed("TIFF has palette pixels and no palette");
  if (palette.is_integer() || palette.is_byte_list()) return std::nullopt;
  if (!palette.is_rational()) return not_a_number("ColorMap");
  for (std::uint64_t i = 0; i < palette.count(); ++i) {
    if (std::isnan(palette.number(i))) return not_a_number("ColorMap");
  }
  return std::nullopt;
}

}  // namespace

ParseResult parse_tiff_header(Bytes bytes) {
  const TiffPreamble preamble = read_tiff_preamble(bytes, true);
  if (preamble.status != TiffPreamble::Status::ok) return truncated("TIFF ends inside its header");
  if (preamble.first_directory == 0) return malformed("TIFF has no image");
  if (preamble.first_directory >= bytes.size()) return truncated("TIFF ends before its first directory");
  return TiffHeaderParser(bytes, preamble).parse();
}

}  // namespace imgpack::headers
