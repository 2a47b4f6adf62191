// One TIFF image file directory: the tags of a TIFF file, of an Exif segment or of a multi-picture index.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "codec/headers/byte_reader.h"

namespace imgpack::headers {

struct TiffPreamble {
  enum class Status : std::uint8_t { ok, not_tiff, truncated };
  Status status = Status::not_tiff;
  bool big_endian = false;
  bool big_tiff = false;
  std::uint64_t first_directory = 0;  ///< offset from the start of the preamble
};

/// Reads the 8 bytes (16 for BigTIFF) at the start. `big_tiff_allowed` false calls a BigTIFF preamble truncated: Exif
/// readers take 8 bytes only.
TiffPreamble read_tiff_preamble(Bytes bytes, bool big_tiff_allowed);

/// The values of one tag, as far as they lie within the file. An absent tag has no values.
class TiffValues {
 public:
  TiffValues() = default;
  TiffValues(std::uint16_t type, Bytes data, bool big_endian) : data_(data), type_(type), big_endian_(big_endian) {}

  bool present() const noexcept { return !data_.empty(); }
  bool is_text() const noexcept;
  /// BYTE or UNDEFINED: a string of bytes, not a list of numbers.
  bool is_bytes() const noexcept;
  bool is_byte_list() const noexcept;  ///< BYTE alone
  bool is_number() const noexcept;
  bool is_integer() const noexcept;
  bool is_rational() const noexcept;

  /// Number of values; 1 for texts and for UNDEFINED.
  std::uint64_t count() const noexcept;
  /// REQUIRES: is_number() and index < count(). NaN for a fraction with denominator 0. Integers beyond 2^53 are
  /// rounded.
  double number(std::uint64_t index = 0) const noexcept;
  /// The first number, `fallback` if the tag is absent, nothing if it is no number.
  std::optional<double> number_or(double fallback) const noexcept;
  Bytes data() const noexcept { return data_; }

 private:
  template <class T>
  T load(std::uint64_t offset) const noexcept;

  Bytes data_;
  std::uint16_t type_ = 0;
  bool big_endian_ = false;
};

/// The wanted tags of one directory. Values are views into the file.
class TiffDirectory {
 public:
  /// Never fails: as in Pillow, reading stops without complaint at the first entry that lies, or whose values lie,
  /// outside `bytes`. Time is linear in the number of entries; values are not touched.
  TiffDirectory(Bytes bytes, const TiffPreamble& preamble, std::initializer_list<std::uint16_t> wanted);

  /// REQUIRES: `tag` was wanted.
  const TiffValues& operator[](std::uint16_t tag) const noexcept;

 private:
  bool read_entry(Bytes bytes, Bytes entry, const TiffPreamble& preamble);

  struct Slot {
    std::uint16_t tag;
    TiffValues values;
  };
  std::vector<Slot> slots_;
};

}  // namespace imgpack::headers
