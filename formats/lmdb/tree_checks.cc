#include "formats/lmdb/tree_checks.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "formats/columns.h"
#include "mmap/little_endian.h"

namespace imgpack::lmdb {

namespace {

/// Offset of the first byte that is not zero; nothing if all are.
std::optional<std::size_t> first_non_zero(std::span<const std::byte> bytes) {
  const auto bad = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  if (bad == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(bad - bytes.begin());
}

}  // namespace

void Report::damage(std::uint64_t offset, std::string what, std::optional<std::uint64_t> record) {
  found_ = true;
  if (!sink_.report({.file = pages_.path().string(), .record = record, .offset = offset, .what = std::move(what)})) {
    throw StopChecking{};
  }
}

void Report::damage(const Error& error, std::optional<std::uint64_t> record) {
  damage(error.place().offset.value_or(0), error.message(), record);
}

void CheckedTree::visit_page(const Page& page) {
  touch();
  if (const std::optional<std::size_t> at = non_canonical_byte(pages_, page, ranges_)) {
    damage(pages_.offset_of(page.number) + *at, "bytes of the page that carry nothing are not in order");
  }
}

void CheckedTree::visit_entry(const LeafNode& node, const Value& value) {
  if (value.overflow_pages != 0) check_overflow(node, value);
  check_entry(node, value);
}

void CheckedTree::visit_damage(const Error& error) {
  context_.report.damage(error, current_record());
}

bool CheckedTree::check_number(const LeafNode& node, std::uint64_t next) {
  const Container& container = context_.container;
  if (next < container.records() && compare_keys(node.key, RecordKey(next, container.key_digits()).bytes()) == 0) {
    return true;
  }
  const std::optional<std::uint64_t> record = next < container.records() ? std::optional(next) : std::nullopt;
  damage(node.file_offset, "an entry does not bear the record number that comes next", record);
  return false;
}

void CheckedTree::touch() {
  // A touched page makes the kernel map its neighbours too: 64 KiB each time.
  if (++touched_ % 1024 == 0) context_.release();
}

void CheckedTree::check_overflow(const LeafNode& node, const Value& value) {
  touch();
  const std::uint64_t at = pages_.offset_of(value.overflow_page);
  if (load_le<std::uint16_t>(pages_.file().data() + at + 8) != 0) {
    damage(at + 8, "unused bytes of an overflow page's header are not zero", current_record());
  }
  if (exact_overflow() && value.overflow_pages != overflow_pages_for(node.value_size, pages_.page_size())) {
    damage(at + 12, "a value has more overflow pages than it needs", current_record());
  }
  const std::uint64_t begin = value.offset + value.bytes.size();
  const std::uint64_t end = at + value.overflow_pages * pages_.page_size();
  if (const std::optional<std::size_t> bad = first_non_zero(pages_.file().subspan(begin, end - begin))) {
    damage(begin + *bad, "bytes behind a value are not zero", current_record());
  }
}

void CheckFreeList::check_entry(const LeafNode& node, const Value& value) {
  if (load_le<std::uint64_t>(node.key.data()) > pages_.meta().transaction) {
    damage(node.file_offset, "the free list has an entry from the future");
  }
  const std::span<const std::byte> numbers = free_page_numbers(pages_, value);
  const std::uint64_t begin = value.offset + sizeof(std::uint64_t);
  for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
    check_free_page(load_le<std::uint64_t>(numbers.data() + at), begin + at);
  }
  if (first_non_zero(value.bytes.subspan(sizeof(std::uint64_t) + numbers.size()))) {
    damage(value.offset, "bytes behind an entry of the free list are not zero");
  }
}

void CheckFreeList::check_free_page(std::uint64_t number, std::uint64_t named_at) {
  const std::span<const std::byte> page = pages_.raw_page(number, named_at);
  if (!context_.used.claim(number, 1)) pages_.damaged(named_at, fmt::format("page {} is free and in use", number));
  if (const std::optional<std::size_t> bad = first_non_zero(page)) {
    damage(pages_.offset_of(number) + *bad, "a free page is not zero");
  }
}

std::optional<std::uint64_t> CheckMain::current_record() const {
  return next_ < context_.container.records() ? std::optional(next_) : std::nullopt;
}

void CheckMain::check_entry(const LeafNode& node, const Value&) {
  if ((node.flags & kNodeDatabase) == 0) {
    check_number(node, next_);
    ++next_;
    return;
  }
  constexpr std::string_view kNames[] = {kKeysName, kLookupName, kMetaName, kRecordsName, kSegmentsName};
  if (std::find(std::begin(kNames), std::end(kNames), text_of(node.key)) == std::end(kNames)) {
    damage(node.file_offset, "the file has a named database that imgpack does not write");
  }
}

void CheckNamed::check_entry(const LeafNode& node, const Value& value) {
  digest_.add(node.key, value.bytes);
  if ((node.flags & kNodeDatabase) != 0) pages_.damaged(node.file_offset, "an entry is a database");
  check_named(node, value);
}

void CheckRows::check_named(const LeafNode& node, const Value& value) {
  const std::uint64_t record = next_++;
  if (!check_number(node, record)) return;
  const std::optional<Row> row = parse_row(value.bytes, context_.container.info().fields);
  if (!row) {
    damage(value.offset, "the record's row is not valid", record);
    return;
  }
  const RecordMeta& meta = row->meta;
  if (meta.label < kNoLabel) damage(value.offset, "the record's label is impossible", record);
  check_payload_size(meta.payload_size, record);
  payload_bytes += meta.payload_size;
  pixels += std::uint64_t{meta.width} * meta.height;
  if (meta.segments_size != 0) {
    ++with_segments;
    segments_fingerprint += pair_fingerprint(meta.segments_size, record);
  }
}

void CheckRows::check_payload_size(std::uint64_t size, std::uint64_t record) {
  const RecordKey key(record, context_.container.key_digits());
  try {
    const std::optional<LeafNode> node = pages_.find(pages_.meta().main, key.bytes());
    if (node && node->value_size == size) return;
    damage(node ? node->file_offset : 0, "the payload's size is not what the row says", record);
  } catch (const Error& error) {
    context_.report.damage(error, record);
  }
}

void CheckKeys::check_named(const LeafNode& node, const Value& value) {
  const std::uint64_t record = next_++;
  if (!check_number(node, record)) return;
  if (value.bytes.size() > kMaxKeyBytes) damage(node.file_offset, "the record's key is too long", record);
  fingerprint += pair_fingerprint(hash_key(text_of(value.bytes)).high, record);
}

void CheckLookup::check_named(const LeafNode& node, const Value& value) {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  if (node.key.size() != kNumber || value.bytes.empty() || value.bytes.size() % kNumber != 0) {
    pages_.damaged(node.file_offset, "a lookup entry is not valid");
  }
  std::uint64_t high = 0;
  for (const std::byte byte : node.key) high = high << 8 | static_cast<std::uint64_t>(byte);
  for (std::size_t at = 0; at < value.bytes.size(); at += kNumber) {
    fingerprint += pair_fingerprint(high, load_le<std::uint64_t>(value.bytes.data() + at));
    ++numbers;
  }
}

void CheckSegments::check_named(const LeafNode& node, const Value& value) {
  const Container& container = context_.container;
  std::uint64_t record = 0;
  for (const std::byte byte : node.key) record = record * 10 + (static_cast<std::uint64_t>(byte) - '0');
  if (record >= container.records() || compare_keys(node.key, RecordKey(record, container.key_digits()).bytes()) != 0) {
    pages_.damaged(node.file_offset, "a segment index belongs to no record");
  }
  fingerprint += pair_fingerprint(value.bytes.size(), record);
  ++count;
}

void CheckMeta::check_named(const LeafNode& node, const Value& value) {
  const std::string_view key = text_of(node.key);
  if (key == kDatasetKey) {
    dataset_digest = digest_text(checksum_of(value.bytes));
  } else if (key == kLayoutKey) {
    layout_digest = digest_text(checksum_of(value.bytes));
  } else if (key == kDigestsKey) {
    digests = nlohmann::json::parse(text_of(value.bytes), nullptr, false);
    digests_offset = value.offset;
    if (!digests.is_object() || digests.dump() != text_of(value.bytes)) {
      damage(value.offset, "the digests are not valid");
    }
  } else {
    damage(node.file_offset, fmt::format("{} has an entry that imgpack does not write", kMetaName));
  }
}

}  // namespace imgpack::lmdb
