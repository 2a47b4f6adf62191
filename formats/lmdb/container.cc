#include "formats/lmdb/container.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/columns.h"
#include "formats/dataset_json.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack::lmdb {

namespace {

[[noreturn]] void foreign(const std::filesystem::path& path, std::string_view why) {
  throw Error(ErrorCode::unsupported,
              fmt::format("this is an LMDB file, but not a finished one of imgpack ({}); only those can be read", why),
              in_file(path));
}

Value meta_entry(const PageReader& pages, const Database& meta, std::string_view key) {
  const std::optional<LeafNode> node = pages.find(meta, bytes_of(key));
  if (!node) pages.damaged(pages.offset_of(meta.root), fmt::format("database {} has no entry {}", kMetaName, key));
  return pages.value(*node);
}

unsigned parse_layout(const PageReader& pages, const Value& value) {
  const auto json = nlohmann::json::parse(text_of(value.bytes), nullptr, false);
  if (!json.is_object() || !json.contains("version") || !json["version"].is_number_integer()) {
    pages.damaged(value.offset, "the layout entry is not valid");
  }
  if (json["version"] != kLayoutVersion) {
    throw Error(ErrorCode::unsupported, "the file's layout is of another version of imgpack",
                in_file(pages.path(), value.offset));
  }
  const auto digits = json.find("key_digits");
  if (digits == json.end() || !digits->is_number_unsigned() || *digits < kMinKeyDigits || *digits > kMaxKeyDigits) {
    pages.damaged(value.offset, "the layout entry is not valid");
  }
  return digits->get<unsigned>();
}

}  // namespace

Database database_of(const PageReader& pages, const LeafNode& node) {
  if (node.flags != kNodeDatabase || node.inline_bytes.size() != kDatabaseSize) {
    pages.damaged(node.file_offset, "a named database is no database");
  }
  const Database database = parse_database(node.inline_bytes);
  const bool empty = database.root == kNoPage;
  if (database.flags != 0 ||
      (empty ? database.depth != 0 || database.entries != 0 : database.depth == 0 || database.depth > kMaxDepth)) {
    pages.damaged(node.file_offset, "a named database has an impossible description");
  }
  if (!empty) pages.raw_page(database.root, node.file_offset);
  return database;
}

Container Container::open(std::span<const std::byte> file, const std::filesystem::path& path) {
  const std::vector<Meta> metas = usable_metas(file);
  if (metas.empty()) {
    throw Error(ErrorCode::damaged, "neither of the two meta pages is usable: the file is damaged or cut short",
                in_file(path, 0));
  }
  Container container(PageReader(file, path, metas.front()));
  container.open_databases();
  container.open_description();
  return container;
}

void Container::open_databases() {
  const Database& main = pages_.meta().main;
  if (main.flags != 0) foreign(pages_.path(), "its main database is of another kind");
  const auto find = [&](std::string_view name) -> std::optional<Database> {
    const std::optional<LeafNode> node = pages_.find(main, bytes_of(name));
    if (!node) return std::nullopt;
    return database_of(pages_, *node);
  };
  const auto require = [&](std::string_view name) {
    const std::optional<Database> found = find(name);
    if (!found) pages_.damaged(pages_.offset_of(main.root), fmt::format("database {} is missing", name));
    return *found;
  };
  const std::optional<Database> meta = find(kMetaName);
  if (!meta) {
    // Where our other databases are, the name of this one was damaged.
    if (find(kRecordsName) || find(kKeysName) || find(kLookupName)) require(kMetaName);
    foreign(pages_.path(), fmt::format("it has no database {}", kMetaName));
  }
  databases_ = {.keys = require(kKeysName),
                .lookup = require(kLookupName),
                .meta = *meta,
                .records = require(kRecordsName),
                .segments = find(kSegmentsName)};
}

void Container::open_description() {
  const Database& meta = databases_.meta;
  if (meta.root == kNoPage) foreign(pages_.path(), fmt::format("database {} is empty", kMetaName));
  key_digits_ = parse_layout(pages_, meta_entry(pages_, meta, kLayoutKey));
  info_ = dataset_info_from_json(text_of(meta_entry(pages_, meta, kDatasetKey).bytes), pages_.path());
  const std::uint64_t records = info_.records;
  if (records > records_for_digits(key_digits_) || pages_.meta().main.entries != records + databases_.count() ||
      databases_.records.entries != records || databases_.keys.entries != records) {
    pages_.damaged(0, "the databases do not have as many entries as the dataset has records");
  }
}

LeafNode Container::entry(const Database& database, std::string_view name, std::uint64_t record) const {
  const std::optional<LeafNode> node = pages_.find(database, RecordKey(record, key_digits_).bytes());
  if (!node) pages_.damaged(pages_.offset_of(database.root), fmt::format("{} has no entry for the record", name));
  if ((node->flags & kNodeDatabase) != 0) pages_.damaged(node->file_offset, "a record's entry is a database");
  return *node;
}

Value Container::payload(std::uint64_t record) const {
  return pages_.value(entry(pages_.meta().main, "the main database", record));
}

std::span<const std::byte> Container::segments(std::uint64_t record) const {
  if (!databases_.segments) return {};
  const std::optional<LeafNode> node = pages_.find(*databases_.segments, RecordKey(record, key_digits_).bytes());
  return node ? pages_.value(*node).bytes : std::span<const std::byte>{};
}

Row Container::row(std::uint64_t record) const {
  const Value value = pages_.value(entry(databases_.records, kRecordsName, record));
  const std::optional<Row> row = parse_row(value.bytes, info_.fields);
  if (!row) pages_.damaged(value.offset, "the record's row is not valid");
  return *row;
}

std::string_view Container::key(std::uint64_t record) const {
  return text_of(pages_.value(entry(databases_.keys, kKeysName, record)).bytes);
}

std::uint64_t Container::row_offset(std::uint64_t record) const {
  return entry(databases_.records, kRecordsName, record).file_offset;
}

std::uint64_t Container::key_offset(std::uint64_t record) const {
  return entry(databases_.keys, kKeysName, record).file_offset;
}

std::optional<std::uint64_t> Container::find(std::string_view wanted) const {
  const std::optional<LeafNode> node = pages_.find(databases_.lookup, lookup_key(hash_key(wanted).high));
  if (!node) return std::nullopt;
  const Value numbers = pages_.value(*node);
  if (numbers.bytes.size() % sizeof(std::uint64_t) != 0) pages_.damaged(numbers.offset, "a lookup entry is not valid");
  for (std::size_t at = 0; at < numbers.bytes.size(); at += sizeof(std::uint64_t)) {
    const auto number = load_le<std::uint64_t>(numbers.bytes.data() + at);
    if (number >= records()) pages_.damaged(numbers.offset + at, "a lookup entry names a record that does not exist");
    if (key(number) == wanted) return number;
  }
  return std::nullopt;
}

}  // namespace imgpack::lmdb
