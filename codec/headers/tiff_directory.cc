#include "codec/headers/tiff_directory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <limits>
#include <type_traits>

#include "mmap/little_endian.h"

namespace imgpack::headers {

namespace {

enum TiffType : std::uint16_t {
  kByte = 1,
  kAscii = 2,
  kShort = 3,
  kLong = 4,
  kRational = 5,
  kSignedByte = 6,
  kUndefined = 7,
  kSignedShort = 8,
  kSignedLong = 9,
  kSignedRational = 10,
  kFloat = 11,
  kDouble = 12,
  kIfd = 13,
  kLong8 = 16,
};

/// Bytes of one value by type; 0 for types that are not read.
constexpr std::array<std::uint8_t, 17> kTypeSizes = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};

std::uint8_t size_of_type(std::uint16_t type) noexcept {
  return type < kTypeSizes.size() ? kTypeSizes[type] : std::uint8_t{0};
}

template <std::unsigned_integral T>
T load(bool big_endian, const std::byte* at) noexcept {
  return big_endian ? load_be<T>(at) : load_le<T>(at);
}

}  // namespace

TiffPreamble read_tiff_preamble(Bytes bytes, bool big_tiff_allowed) {
  TiffPreamble preamble;
  if (bytes.size() < 4) return preamble;
  preamble.big_endian = starts_with(bytes, "MM");
  if (!preamble.big_endian && !starts_with(bytes, "II")) return preamble;
  const std::uint8_t third = byte_at(bytes, 2);
  const std::uint8_t fourth = byte_at(bytes, 3);
  const bool classic = (third == 42 && fourth == 0) || (third == 0 && fourth == 42);
  // Pillow 9.4 takes big-endian BigTIFF for classic TIFF: its version is looked for in the third byte only.
  const bool big = preamble.big_endian ? third == 0 && fourth == 43 : third == 43 && fourth == 0;
  if (!classic && !big) return preamble;
  preamble.big_tiff = third == 43;
  preamble.status = TiffPreamble::Status::truncated;
  if (preamble.big_tiff) {
    if (!big_tiff_allowed || bytes.size() < 16) return preamble;
    preamble.first_directory = load<std::uint64_t>(preamble.big_endian, bytes.data() + 8);
  } else {
    if (bytes.size() < 8) return preamble;
    preamble.first_directory = load<std::uint32_t>(preamble.big_endian, bytes.data() + 4);
  }
  preamble.status = TiffPreamble::Status::ok;
  return preamble;
}

bool TiffValues::is_text() const noexcept {
  return present() && type_ == kAscii;
}

bool TiffValues::is_bytes() const noexcept {
  return present() && (type_ == kByte || type_ == kUndefined);
}

bool TiffValues::is_byte_list() const noexcept {
  return present() && type_ == kByte;
}

bool TiffValues::is_number() const noexcept {
  return present() && !is_text() && !is_bytes();
}

bool TiffValues::is_rational() const noexcept {
  return present() && (type_ == kRational || type_ == kSignedRational);
}

bool TiffValues::is_integer() const noexcept {
  return is_number() && !is_rational() && type_ != kFloat && type_ != kDouble;
}

std::uint64_t TiffValues::count() const noexcept {
  if (!present()) return 0;
  if (type_ == kAscii || type_ == kUndefined) return 1;
  return data_.size() / size_of_type(type_);
}

template <class T>
T TiffValues::load(std::uint64_t offset) const noexcept {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                                     std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  return std::bit_cast<T>(headers::load<Bits>(big_endian_, data_.data() + offset));
}

double TiffValues::number(std::uint64_t index) const noexcept {
  assert(is_number() && index < count());
  const std::uint64_t at = index * size_of_type(type_);
  const auto fraction = [](double numerator, double denominator) {
    return denominator == 0 ? std::numeric_limits<double>::quiet_NaN() : numerator / denominator;
  };
  switch (type_) {
    case kShort:
      return load<std::uint16_t>(at);
    case kLong:
    case kIfd:
      return load<std::uint32_t>(at);
    case kRational:
      return fraction(load<std::uint32_t>(at), load<std::uint32_t>(at + 4));
    case kSignedByte:
      return load<std::int8_t>(at);
    case kSignedShort:
      return load<std::int16_t>(at);
    case kSignedLong:
      return load<std::int32_t>(at);
    case kSignedRational:
      return fraction(load<std::int32_t>(at), load<std::int32_t>(at + 4));
    case kFloat:
      return static_cast<double>(load<float>(at));
    case kDouble:
      return load<double>(at);
    case kLong8:
      return static_cast<double>(load<std::uint64_t>(at));
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

std::optional<double> TiffValues::number_or(double fallback) const noexcept {
  if (!present()) return fallback;
  if (!is_number()) return std::nullopt;
  return number();
}

TiffDirectory::TiffDirectory(Bytes bytes, const TiffPreamble& preamble, std::initializer_list<std::uint16_t> wanted) {
  for (const std::uint16_t tag : wanted) slots_.push_back({tag, {}});
  if (preamble.first_directory > bytes.size()) return;
  ByteReader reader(bytes, static_cast<std::size_t>(preamble.first_directory));
  const auto head = reader.take(preamble.big_tiff ? 8 : 2);
  if (!head) return;
  std::uint64_t entries = preamble.big_tiff ? load<std::uint64_t>(preamble.big_endian, head->data())
                                            : load<std::uint16_t>(preamble.big_endian, head->data());
  for (; entries > 0; --entries) {
    const auto entry = reader.take(preamble.big_tiff ? 20 : 12);
    if (!entry || !read_entry(bytes, *entry, preamble)) return;
  }
}

/// False if the values lie outside the file.
bool TiffDirectory::read_entry(Bytes bytes, Bytes entry, const TiffPreamble& preamble) {
  const bool big_endian = preamble.big_endian;
  const std::uint64_t inline_size = preamble.big_tiff ? 8 : 4;
  const auto tag = load<std::uint16_t>(big_endian, entry.data());
  const auto type = load<std::uint16_t>(big_endian, entry.data() + 2);
  const std::uint64_t count = preamble.big_tiff ? load<std::uint64_t>(big_endian, entry.data() + 4)
                                                : load<std::uint32_t>(big_endian, entry.data() + 4);
  const std::uint64_t unit = size_of_type(type);
  if (unit == 0 || count == 0) return true;  // an unknown type, or nothing: as if the entry were not there

  const Bytes field = entry.last(static_cast<std::size_t>(inline_size));
  Bytes values = field;
  if (count > inline_size / unit) {
    const std::uint64_t offset = preamble.big_tiff ? load<std::uint64_t>(big_endian, field.data())
                                                   : load<std::uint32_t>(big_endian, field.data());
    if (offset > bytes.size() || count > (bytes.size() - offset) / unit) return false;
    values = bytes.subspan(static_cast<std::size_t>(offset));
  }
  values = values.first(static_cast<std::size_t>(count * unit));

  for (Slot& slot : slots_) {
    if (slot.tag == tag) slot.values = TiffValues(type, values, big_endian);
  }
  return true;
}

const TiffValues& TiffDirectory::operator[](std::uint16_t tag) const noexcept {
  const auto slot = std::find_if(slots_.begin(), slots_.end(), [tag](const Slot& s) { return s.tag == tag; });
  assert(slot != slots_.end());
  return slot->values;
}

}  // namespace imgpack::headers
