// Where records come from: a folder, a tar, a manifest or a packed dataset, as one ordered list of entries whose bytes
// can be read in any order by many threads. Nothing is unpacked to disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "imgpack/dataset_info.h"
#include "mmap/byte_buffer.h"

namespace imgpack {

/// One candidate for a record. What it really is shows only when its bytes are read.
struct SourceEntry {
  std::string key;  ///< of the record to be; not necessarily UTF-8 (then it is refused when packed)
  std::int64_t label = kNoLabel;
  std::uint32_t split = 0;          ///< index into Source::info().splits
  std::vector<std::string> fields;  ///< one a field of Source::info().fields, encoded as Record::fields
  std::uint64_t size = 0;           ///< bytes, if the scan learnt it, else 0
  /// Not empty: the scan already knows that this can't be packed, and why ("broken symbolic link", ...).
  std::string problem;

  // Where the bytes are; for the Source alone.
  std::uint32_t container = 0;  ///< which of the source's files or folders
  std::uint64_t offset = 0;     ///< in a tar, the line of a manifest, or the record number in a packed dataset
  std::string path;             ///< relative to the container, if it is a folder

  void clear();
};

struct SourceBytes {
  std::span<const std::byte> payload;
  std::span<const std::byte> segments;  ///< of packed datasets only
};

/// Const functions are thread-safe.
class Source {
 public:
  virtual ~Source() = default;

  /// Classes, split names, fields, source_kind and source_name.
  virtual const DatasetInfo& info() const noexcept = 0;
  /// Number of entries: records if nothing is refused.
  virtual std::uint64_t size() const noexcept = 0;
  /// Entry `index` into `entry` (reusing its memory). Order: by split, then class, then path; manifests and tars of
  /// samples keep their own order within a split. The same on every machine.
  virtual void entry(std::uint64_t index, SourceEntry& entry) const = 0;
  /// The entry's bytes, in `scratch` or in a mapping of the source's; valid until `scratch` changes. Throws refused if
  /// this entry can't be read (vanished, permission, changed size while read, larger than kMaxEntryBytes), io if the
  /// machine fails.
  virtual SourceBytes read(const SourceEntry& entry, ByteBuffer& scratch) const = 0;
  /// XXH3-64 over the whole list: keys, labels, splits, fields, in order. Part of a build's fingerprint.
  virtual std::uint64_t digest() const noexcept = 0;
  /// Things worth a word that are no errors: an empty class, ignored files at the top of a class folder, ...
  virtual const std::vector<std::string>& warnings() const noexcept = 0;

  /// For entries that are already records (packed datasets): what is known of them, to be taken over. Nothing
  /// otherwise.
  virtual std::optional<RecordMeta> packed_meta(const SourceEntry&) const { return std::nullopt; }
  /// Entries [first, first + count) will hardly be asked for again: their memory may be given back.
  virtual void done_with(std::uint64_t /*first*/, std::uint64_t /*count*/) const {}
};

inline constexpr std::uint64_t kMaxEntryBytes = 1ull << 30;

struct SourceOptions {
  std::filesystem::path work_dir;  ///< for nameless temporary files; memory does not grow with the number of entries
  bool need_sizes = false;         ///< SourceEntry::size must be filled (costs one stat a file in folders)
};

/// A packed dataset (file, pattern, shards or manifest) as a source. Its info() is the whole description, with split
/// names instead of ranges. Throws what open_store throws.
std::unique_ptr<Source> open_packed_source(const std::filesystem::path& path);

/// Recognises what `path` is and lists it. Throws not_found, refused (nothing to pack in there; duplicate keys, naming
/// both), damaged (a broken tar or manifest, naming the place), unsupported, io.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace imgpack
