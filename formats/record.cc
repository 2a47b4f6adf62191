#include "imgpack/record.h"

#include <array>
#include <utility>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "formats/checksum.h"

namespace imgpack {

namespace {

constexpr std::array<std::pair<Codec, std::string_view>, 9> kCodecNames = {{
    {Codec::unknown, "unknown"},
    {Codec::jpeg, "jpeg"},
    {Codec::png, "png"},
    {Codec::webp, "webp"},
    {Codec::bmp, "bmp"},
    {Codec::tiff, "tiff"},
    {Codec::gif, "gif"},
    {Codec::raw_rgb8, "raw_rgb8"},
    {Codec::raw_rgb8_zstd, "raw_rgb8_zstd"},
}};

constexpr std::array<std::pair<FieldType, std::string_view>, 3> kFieldTypeNames = {{
    {FieldType::int64, "int64"},
    {FieldType::float32, "float32"},
    {FieldType::bytes, "bytes"},
}};

}  // namespace

std::string_view to_string(Codec codec) noexcept {
  for (const auto& [value, name] : kCodecNames) {
    if (value == codec) return name;
  }
  return "unknown";
}

std::optional<Codec> codec_from_number(std::uint8_t number) noexcept {
  for (const auto& [value, name] : kCodecNames) {
    if (static_cast<std::uint8_t>(value) == number) return value;
  }
  return std::nullopt;
}

std::optional<Codec> codec_from_name(std::string_view name) noexcept {
  for (const auto& [value, text] : kCodecNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::string_view to_string(FieldType type) noexcept {
  for (const auto& [value, name] : kFieldTypeNames) {
    if (value == type) return name;
  }
  return "unknown";
}

std::optional<FieldType> field_type_from_name(std::string_view name) noexcept {
  for (const auto& [value, text] : kFieldTypeNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::uint64_t FieldSpec::elements() const noexcept {
  std::uint64_t product = 1;
  for (const std::uint32_t extent : shape) product *= extent;
  return product;
}

std::uint64_t FieldSpec::value_size() const noexcept {
  switch (type) {
    case FieldType::int64:
      return elements() * 8;
    case FieldType::float32:
      return elements() * 4;
    case FieldType::bytes:
      break;
  }
  return 0;
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t record_checksum(std::span<const std::byte> payload, std::span<const std::byte> segments) noexcept {
  if (segments.empty()) return checksum_of(payload);
  Checksummer checksummer;
  checksummer.update(payload);
  checksummer.update(segments);
  return checksummer.value();
}

struct Checksummer::State {
  XXH3_state_t xxh;
};

Checksummer::Checksummer() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
Checksummer::~Checksummer() = default;
Checksummer::Checksummer(Checksummer&&) noexcept = default;
Checksummer& Checksummer::operator=(Checksummer&&) noexcept = default;

void Checksummer::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t Checksummer::value() const noexcept {
  return XXH3_64bits_digest(&state_->xxh);
}

void Record::describe() noexcept {
  meta.payload_size = payload.size();
  meta.segments_size = segments.size();
  meta.checksum = record_checksum(payload, segments);
}

}  // namespace imgpack
