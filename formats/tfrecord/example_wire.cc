#include "formats/tfrecord/example_wire.h"

#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace imgpack {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

using Bytes = std::span<const std::byte>;

// Calls visit(field number, bytes) for every length-delimited field of a message and skips the others. Returns false if
// the bytes are not a message. REQUIRES: message.size() <= kMaxExampleBytes.
template <typename Visit>
bool walk_message(Bytes message, Visit&& visit) {
  const int size = static_cast<int>(message.size());
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(message.data()), size);
  while (input.CurrentPosition() < size) {
    const std::uint32_t tag = input.ReadTag();
    if (WireFormatLite::GetTagFieldNumber(tag) == 0) return false;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    std::uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return false;
    const std::size_t position = static_cast<std::size_t>(input.CurrentPosition());
    if (length > message.size() - position) return false;
    if (!input.Skip(static_cast<int>(length))) return false;
    if (!visit(WireFormatLite::GetTagFieldNumber(tag), message.subspan(position, length))) return false;
  }
  return true;
}

std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

WireStatus FeatureList::parse(Bytes example) {
  entries_.clear();
  if (example.size() > kMaxExampleBytes) return WireStatus::too_large;
  WireStatus status = WireStatus::ok;
  const bool whole = walk_message(example, [&](int number, Bytes features) {
    if (number == 1) status = add_features(features);
    return status == WireStatus::ok;
  });
  if (status != WireStatus::ok) return status;
  if (!whole) return WireStatus::malformed;
  std::ranges::stable_sort(entries_, {}, &Entry::name);
  return WireStatus::ok;
}

WireStatus FeatureList::add_features(Bytes features) {
  WireStatus status = WireStatus::ok;
  const bool whole = walk_message(features, [&](int number, Bytes entry) {
    if (number == 1) status = add_entry(entry);
    return status == WireStatus::ok;
  });
  return status == WireStatus::ok && !whole ? WireStatus::malformed : status;
}

WireStatus FeatureList::add_entry(Bytes bytes) {
  if (entries_.size() == kMaxFeatures) return WireStatus::too_many_features;
  Entry entry;
  int values = 0;
  const bool whole = walk_message(bytes, [&](int number, Bytes value) {
    if (number == 1) entry.name = as_text(value);
    if (number == 2) {
      entry.feature = value;
      ++values;
    }
    return true;
  });
  // Protobuf would merge several values of one entry. No writer makes them, and merging would need a copy.
  if (!whole || values > 1) return WireStatus::malformed;
  entries_.push_back(entry);
  return WireStatus::ok;
}

std::optional<Bytes> FeatureList::find(std::string_view name) const noexcept {
  const auto behind = std::ranges::upper_bound(entries_, name, {}, &Entry::name);
  if (behind == entries_.begin() || std::prev(behind)->name != name) return std::nullopt;
  return std::prev(behind)->feature;
}

std::optional<BytesValues> read_bytes_values(Bytes feature) noexcept {
  if (feature.size() > kMaxExampleBytes) return std::nullopt;
  BytesValues values;
  const bool whole = walk_message(feature, [&](int kind, Bytes list) {
    if (kind == 2 || kind == 3) values.other_kind = true;
    if (kind != 1) return true;
    return walk_message(list, [&](int number, Bytes value) {
      if (number == 1) {
        ++values.count;
        values.last = value;
      }
      return true;
    });
  });
  if (!whole) return std::nullopt;
  return values;
}

}  // namespace imgpack
