#include "formats/lmdb/row.h"

#include <algorithm>
#include <limits>

#include "formats/byte_reader.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack::lmdb {

unsigned key_digits_for(std::uint64_t records) noexcept {
  unsigned digits = kMinKeyDigits;
  while (records > records_for_digits(digits)) ++digits;
  return digits;
}

std::uint64_t records_for_digits(unsigned digits) noexcept {
  if (digits >= kMaxKeyDigits) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t records = 1;
  for (unsigned i = 0; i < digits; ++i) records *= 10;
  return records;
}

RecordKey::RecordKey(std::uint64_t number, unsigned digits) noexcept : digits_(digits) {
  for (unsigned i = digits; i-- > 0; number /= 10) text_[i] = static_cast<std::byte>('0' + number % 10);
}

std::array<std::byte, 8> lookup_key(std::uint64_t hash_high) noexcept {
  std::array<std::byte, 8> key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(hash_high >> (56 - 8 * i) & 0xff);
  return key;
}

void encode_row(const LogRow& row, const std::vector<FieldSpec>& fields, std::vector<std::byte>& out) {
  if (row.fields.size() != fields.size()) {
    throw Error(ErrorCode::invalid_argument, "a record's number of field values is not that of the dataset's fields");
  }
  out.clear();
  append_le(out, row.meta.label);
  append_le(out, row.meta.checksum);
  append_le(out, row.meta.payload_size);
  append_le(out, row.meta.segments_size);
  append_le(out, row.meta.width);
  append_le(out, row.meta.height);
  append_le(out, row.meta.channels);
  append_le(out, static_cast<std::uint8_t>(row.meta.codec));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::span<const std::byte> value = bytes_of(row.fields[i]);
    if (fields[i].type == FieldType::bytes) {
      append_le(out, static_cast<std::uint32_t>(value.size()));
    } else if (value.size() != fields[i].value_size()) {
      throw Error(ErrorCode::invalid_argument, "the value of field " + fields[i].name + " has a wrong size");
    }
    out.insert(out.end(), value.begin(), value.end());
  }
}

std::optional<Row> parse_row(std::span<const std::byte> bytes, const std::vector<FieldSpec>& fields) noexcept {
  ByteReader in(bytes);
  Row row;
  row.meta.label = in.read<std::int64_t>();
  row.meta.checksum = in.read<std::uint64_t>();
  row.meta.payload_size = in.read<std::uint64_t>();
  row.meta.segments_size = in.read<std::uint64_t>();
  row.meta.width = in.read<std::uint32_t>();
  row.meta.height = in.read<std::uint32_t>();
  row.meta.channels = in.read<std::uint8_t>();
  const std::optional<Codec> codec = codec_from_number(in.read<std::uint8_t>());
  if (!in.ok() || !codec) return std::nullopt;
  row.meta.codec = *codec;
  row.fields = bytes.last(in.remaining());
  for (const FieldSpec& field : fields) {
    in.take(field.type == FieldType::bytes ? in.read<std::uint32_t>() : field.value_size());
  }
  if (!in.ok() || in.remaining() != 0) return std::nullopt;
  return row;
}

std::span<const std::byte> row_field(const Row& row, const std::vector<FieldSpec>& fields, std::size_t field) noexcept {
  ByteReader in(row.fields);
  std::span<const std::byte> value;
  for (std::size_t i = 0; i <= field; ++i) {
    value = in.take(fields[i].type == FieldType::bytes ? in.read<std::uint32_t>() : fields[i].value_size());
  }
  return value;
}

void EntryDigest::add(std::span<const std::byte> key, std::span<const std::byte> value) noexcept {
  std::array<std::byte, 4> size;
  for (const std::span<const std::byte> part : {key, value}) {
    store_le(size.data(), static_cast<std::uint32_t>(part.size()));
    checksummer_.update(size);
    checksummer_.update(part);
  }
}

std::uint64_t pair_fingerprint(std::uint64_t hash_high, std::uint64_t number) noexcept {
  std::array<std::byte, 16> pair;
  store_le(pair.data(), hash_high);
  store_le(pair.data() + 8, number);
  return checksum_of(pair);
}

}  // namespace imgpack::lmdb
