// What a build makes of each image before it is stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace imgpack {

/// Resampling filters, each equal to Pillow's of that name: antialiased, except nearest.
enum class Interpolation : std::uint8_t { nearest, box, bilinear, hamming, bicubic, lanczos };
std::string_view to_string(Interpolation interpolation) noexcept;
std::optional<Interpolation> interpolation_from_name(std::string_view name) noexcept;

enum class Encode : std::uint8_t {
  keep,  ///< the file's own bytes
  jpeg,  ///< re-encoded where that is needed; see Transform::quality
  raw,   ///< predecoded RGB
};
std::string_view to_string(Encode encode) noexcept;
std::optional<Encode> encode_from_name(std::string_view name) noexcept;

enum class ResizeMode : std::uint8_t {
  shorter,      ///< the shorter side becomes N, the other keeps the proportion: torchvision's Resize(N)
  longer,       ///< the longer side becomes N
  exact,        ///< N x N, whatever the proportion
  center_crop,  ///< as shorter, then the N x N in the middle: Resize(N) and CenterCrop(N)
};
std::string_view to_string(ResizeMode mode) noexcept;
std::optional<ResizeMode> resize_mode_from_name(std::string_view name) noexcept;

/// What happens to JPEG files whose bytes are kept.
enum class JpegHandling : std::uint8_t {
  keep,      ///< bytes as they are
  baseline,  ///< progressive and arithmetic-coded ones become baseline Huffman, with the same coefficients
  restart,   ///< all become baseline with restart markers and optimised tables, with the same coefficients
};
std::string_view to_string(JpegHandling handling) noexcept;
std::optional<JpegHandling> jpeg_handling_from_name(std::string_view name) noexcept;

enum class Subsampling : std::uint8_t { s444, s422, s420 };
std::string_view to_string(Subsampling subsampling) noexcept;  ///< "444", "422", "420"
std::optional<Subsampling> subsampling_from_name(std::string_view name) noexcept;

struct Transform {
  static constexpr std::uint32_t kMaxResize = 65500;
  static constexpr int kDefaultQuality = 90;
  static constexpr Subsampling kDefaultSubsampling = Subsampling::s420;

  Encode encode = Encode::keep;
  /// Of JPEG files that keep their coefficients: all with Encode::keep, with Encode::jpeg those that are not
  /// re-encoded.
  JpegHandling jpeg = JpegHandling::keep;
  std::uint32_t resize = 0;  ///< N pixels; 0: sizes stay
  ResizeMode resize_mode = ResizeMode::shorter;
  Interpolation interpolation = Interpolation::bilinear;
  /// Enlarge what is smaller. Otherwise smaller images keep their size with shorter and longer, and are refused with
  /// exact and center_crop, whose results have one size.
  bool upscale = false;
  /// Of re-encoded JPEGs, 1 to 100. A JPEG file of one or three components that is neither resized nor turned keeps its
  /// coefficients unless quality or subsampling is given.
  std::optional<int> quality = {};
  std::optional<Subsampling> subsampling = {};
  std::optional<int> zstd_level = {};   ///< compress raw payloads, 1 to 22
  bool normalize = false;               ///< store as raw pixels whatever a GPU could not decode
  bool index = true;                    ///< store the segment index of JPEGs
  bool apply_exif_orientation = false;  ///< turn images as their EXIF says; needs Encode::jpeg or raw

  bool operator==(const Transform&) const = default;

  /// Throws invalid_argument, saying which options contradict each other.
  void check() const;
  /// Width and height of all results, if they have the same.
  std::optional<std::uint32_t> fixed_side() const noexcept;
  /// As DatasetInfo::transform: {"encode": "raw", "resize": "256", ...}; only what matters for the result.
  std::map<std::string, std::string> describe() const;
};

}  // namespace imgpack
