// The record model: what one record is, in every format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpack {

/// How a payload is encoded. The numbers are part of every format and never change meaning.
enum class Codec : std::uint8_t {
  unknown = 0,
  jpeg = 1,
  png = 2,
  webp = 3,
  bmp = 4,
  tiff = 5,
  gif = 6,
  raw_rgb8 = 16,       ///< uint8, height x width x 3, no padding
  raw_rgb8_zstd = 17,  ///< the same, one zstd frame
};

/// "jpeg", "png", ..., "unknown".
std::string_view to_string(Codec codec) noexcept;
/// The codec with that number, or nothing if the number is not assigned.
std::optional<Codec> codec_from_number(std::uint8_t number) noexcept;
std::optional<Codec> codec_from_name(std::string_view name) noexcept;

inline constexpr std::int64_t kNoLabel = -1;
/// Pillow's limit against decompression bombs: above it, Image.open raises DecompressionBombError.
inline constexpr std::uint64_t kDefaultMaxPixels = 178'956'970;
/// Longest key that a store accepts, in bytes.
inline constexpr std::size_t kMaxKeyBytes = 1u << 20;

/// What is known of a record besides its bytes.
struct RecordMeta {
  std::int64_t label = kNoLabel;  ///< class index, or kNoLabel
  std::uint32_t width = 0;        ///< of the decoded image, pixels
  std::uint32_t height = 0;
  std::uint8_t channels = 0;  ///< of the encoded image: 1, 2, 3 or 4; 3 for raw payloads
  Codec codec = Codec::unknown;
  std::uint64_t payload_size = 0;   ///< bytes
  std::uint64_t segments_size = 0;  ///< bytes; 0 where there is no segment index
  std::uint64_t checksum = 0;       ///< record_checksum(payload, segments)

  bool operator==(const RecordMeta&) const = default;
};

/// XXH3-64 (seed 0) of the payload bytes followed by the segment bytes.
std::uint64_t record_checksum(std::span<const std::byte> payload, std::span<const std::byte> segments) noexcept;

enum class FieldType : std::uint8_t { int64 = 1, float32 = 2, bytes = 3 };
std::string_view to_string(FieldType type) noexcept;
std::optional<FieldType> field_type_from_name(std::string_view name) noexcept;

/// A named value that every record of a dataset has besides its label.
struct FieldSpec {
  std::string name;  ///< UTF-8, not empty
  FieldType type = FieldType::int64;
  std::vector<std::uint32_t> shape;  ///< empty: scalar. Always empty for bytes, whose values differ in length.

  std::uint64_t elements() const noexcept;
  /// Bytes of one value; 0 for FieldType::bytes.
  std::uint64_t value_size() const noexcept;
  bool operator==(const FieldSpec&) const = default;
};

/// A record as it is handed to a writer. All views are borrowed for the call.
///
/// `meta.payload_size`, `meta.segments_size` and `meta.checksum` must describe `payload` and `segments`; describe()
/// fills them.
struct Record {
  std::string_view key;  ///< unique in the dataset, UTF-8, at most kMaxKeyBytes
  RecordMeta meta;
  std::uint32_t split = 0;  ///< index into the names that the writer was created with; ignored if it has none
  std::span<const std::byte> payload;
  std::span<const std::byte> segments;
  /// One value a FieldSpec, in order: little-endian packed elements, or the bytes themselves.
  std::span<const std::string_view> fields;

  /// Sets sizes and checksum in `meta` from `payload` and `segments`.
  void describe() noexcept;
};

/// The bytes of a stored record. Views into the store's mapping: valid as long as the StoreReader lives.
struct RecordBytes {
  std::span<const std::byte> payload;
  std::span<const std::byte> segments;
};

}  // namespace imgpack
