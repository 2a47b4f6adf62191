// Keys and rows of imgpack's databases inside an LMDB file, as bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/checksum.h"
#include "formats/record_log.h"
#include "imgpack/record.h"

namespace imgpack::lmdb {

inline constexpr std::string_view kKeysName = "imgpack.keys";
inline constexpr std::string_view kLookupName = "imgpack.lookup";
inline constexpr std::string_view kMetaName = "imgpack.meta";
inline constexpr std::string_view kRecordsName = "imgpack.records";
inline constexpr std::string_view kSegmentsName = "imgpack.segments";

// Entries of imgpack.meta.
inline constexpr std::string_view kDatasetKey = "dataset";
inline constexpr std::string_view kDigestsKey = "digests";
inline constexpr std::string_view kLayoutKey = "layout";

inline constexpr int kLayoutVersion = 1;
inline constexpr unsigned kMinKeyDigits = 8;
inline constexpr unsigned kMaxKeyDigits = 20;

/// Digits of record keys in a file that will hold up to `records` records.
unsigned key_digits_for(std::uint64_t records) noexcept;
/// Records that keys of so many digits can number.
std::uint64_t records_for_digits(unsigned digits) noexcept;

/// A record number in decimal with leading zeros: the key in all databases that have an entry a record.
class RecordKey {
 public:
  /// REQUIRES: number < records_for_digits(digits), digits <= kMaxKeyDigits.
  RecordKey(std::uint64_t number, unsigned digits) noexcept;
  std::span<const std::byte> bytes() const noexcept { return {text_.data(), digits_}; }

 private:
  std::array<std::byte, kMaxKeyDigits> text_;
  unsigned digits_;
};

/// A key of imgpack.lookup: the high half of a key's hash, big-endian, so that byte order is numeric order.
std::array<std::byte, 8> lookup_key(std::uint64_t hash_high) noexcept;

/// Replaces `out` by the row of `row` in imgpack.records.
void encode_row(const LogRow& row, const std::vector<FieldSpec>& fields, std::vector<std::byte>& out);

/// A row, parsed. `fields` are the values one after the other, known to fit the field list.
struct Row {
  RecordMeta meta;
  std::span<const std::byte> fields;
};
/// Nothing if `bytes` is no row for such fields.
std::optional<Row> parse_row(std::span<const std::byte> bytes, const std::vector<FieldSpec>& fields) noexcept;
/// REQUIRES: `row` comes from parse_row() with the same fields.
std::span<const std::byte> row_field(const Row& row, const std::vector<FieldSpec>& fields, std::size_t field) noexcept;

/// XXH3-64 over a database's entries in key order: u32 key size, key, u32 value size, value.
class EntryDigest {
 public:
  void add(std::span<const std::byte> key, std::span<const std::byte> value) noexcept;
  std::uint64_t value() const noexcept { return checksummer_.value(); }

 private:
  Checksummer checksummer_;
};

/// An order-independent fingerprint of (key hash, record number) pairs: sums of them are equal for equal sets,
/// whichever way round they are visited. Compares imgpack.lookup with imgpack.keys in one pass over each.
std::uint64_t pair_fingerprint(std::uint64_t hash_high, std::uint64_t number) noexcept;

inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace imgpack::lmdb
