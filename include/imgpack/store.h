// Packed datasets as files: opening and reading one in any format, and writing one in order.
//
//   auto store = imgpack::open_store("imagenet.rec");
//   for (std::uint64_t i = 0; i < store->size(); ++i) use(store->key(i), store->bytes(i).payload);
//
//   auto writer = imgpack::StoreWriter::create("out.rec", info, {.format = imgpack::Format::rec});
//   writer->append(record);
//   writer->finish();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/dataset_info.h"
#include "imgpack/record.h"

namespace imgpack {

enum class Format : std::uint8_t { rec, lmdb, hdf5, tfrecord };
std::string_view to_string(Format format) noexcept;
std::optional<Format> format_from_name(std::string_view name) noexcept;
/// By extension: .rec .lmdb .mdb .h5 .hdf5 .tfrecord; nothing for others.
std::optional<Format> format_from_extension(const std::filesystem::path& path);
/// Whether this build can read and write `format`.
bool format_available(Format format) noexcept;

/// Where a record's payload lies on disk: for unbuffered reads and for error messages.
struct PayloadPlace {
  const std::filesystem::path* file = nullptr;  ///< owned by the store
  std::uint64_t record = 0;                     ///< number in that file
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t device = 0;  ///< which file that is: its path may lead to another one by now
  std::uint64_t inode = 0;
};

/// One way in which a file breaks its promises.
struct Damage {
  std::string file;
  std::optional<std::uint64_t> record;
  std::optional<std::uint64_t> offset;
  std::string what;
};

/// Receives damage while a file is being checked.
class DamageSink {
 public:
  virtual ~DamageSink() = default;
  /// Thread-safe. Returns false when the caller should stop looking.
  virtual bool report(Damage damage) = 0;
};

/// A packed dataset, opened for reading.
///
/// Thread-safe: every const function may be called from any number of threads at once, and in a child after fork().
/// Nothing is read from the file before it is asked for, and no function allocates memory per record unless it says so.
/// Every position and length taken from the file is checked before use: on damage the functions throw
/// Error(ErrorCode::damaged) naming file, record and offset. Record numbers must be below size(), else
/// invalid_argument.
class StoreReader {
 public:
  virtual ~StoreReader() = default;
  StoreReader(const StoreReader&) = delete;
  StoreReader& operator=(const StoreReader&) = delete;

  virtual Format format() const noexcept = 0;
  /// The file, or the pattern or manifest for several.
  virtual const std::filesystem::path& path() const noexcept = 0;
  virtual std::uint64_t size() const noexcept = 0;
  virtual const DatasetInfo& info() const noexcept = 0;

  virtual RecordMeta meta(std::uint64_t record) const = 0;
  virtual std::string_view key(std::uint64_t record) const = 0;
  virtual RecordBytes bytes(std::uint64_t record) const = 0;
  /// Value of info().fields[field]: little-endian packed elements, or the bytes themselves.
  virtual std::span<const std::byte> field(std::uint64_t record, std::size_t field) const = 0;
  virtual PayloadPlace place(std::uint64_t record) const = 0;
  /// The mapped files that payloads lie in, each as a whole and once: every payload of bytes() is a part of one of
  /// them, and mappings begin at page boundaries. For a device that is to reach payloads where they are. Segment
  /// indices may lie elsewhere. In the order of records; without files that are empty; valid as long as the store
  /// lives. Allocates.
  virtual std::vector<std::span<const std::byte>> mappings() const = 0;
  /// The record with that key.
  virtual std::optional<std::uint64_t> find(std::string_view key) const = 0;

  /// Has what meta() and bytes() will look up of a record brought into the processor's caches: where records are read
  /// in random order, its place in the index is in none of them. Returns at once, and may do nothing.
  virtual void prefetch_entry(std::uint64_t record) const noexcept { static_cast<void>(record); }

  // Ranges of records are clipped to size(); both are advice and do not throw because of damage.

  /// Tells the operating system that the payloads of [first, first + count) are wanted soon.
  virtual void prefetch(std::uint64_t first, std::uint64_t count) const = 0;
  /// Takes the payloads of [first, first + count) out of this process's resident memory (they stay in the page cache).
  virtual void release(std::uint64_t first, std::uint64_t count) const = 0;

  /// The files of a dataset of several, in order; empty for a single file.
  virtual std::span<const std::unique_ptr<StoreReader>> parts() const noexcept { return {}; }

  /// Checks all that is not a record's own bytes: header, index, checksums of sections, padding. Records themselves are
  /// checked by verify().
  virtual void check_container(DamageSink& sink) const = 0;

 protected:
  StoreReader() = default;
};

/// Opens a packed dataset. `path` is a file (recognised by content), a manifest written by merge, a glob pattern, or
/// the name that shards were built under ("out.rec" for out-00000-of-00008.rec ...). Several files read as one
/// sequence. Throws not_found, damaged, unsupported or io.
std::unique_ptr<StoreReader> open_store(const std::filesystem::path& path);

/// Whether `path` is a file that begins like a packed dataset of a format of this build, or a manifest. Throws io.
bool is_packed_dataset(const std::filesystem::path& path);

/// The one size of all images of a dataset whose payloads are pixels.
struct RawShape {
  static constexpr std::uint32_t kMaxSide = 65'535;

  std::uint32_t height = 0;  ///< pixels, 1 to kMaxSide
  std::uint32_t width = 0;   ///< pixels, 1 to kMaxSide

  /// Bytes of one image: height x width x 3.
  std::uint64_t bytes() const noexcept { return std::uint64_t{height} * width * 3; }
  bool operator==(const RawShape&) const = default;
};

struct StoreOptions {
  Format format = Format::rec;
  std::uint32_t alignment = 64;  ///< of payloads in rec files; a power of two from 8 to 65536
  bool overwrite = false;        ///< replace an existing output when finish() publishes
  bool resume = false;           ///< go on from what an interrupted writer left, if it left anything
  /// With `resume`: a seal found there was made by this very process, and the file need not be read again before it is
  /// published.
  bool trust_seal = false;
  /// Names the input and the options that decide the output's bytes. A resume with another one is refused.
  std::string fingerprint;
  /// Upper bound for the number of records; decides the width of LMDB's keys.
  std::uint64_t expected_records = 0;
  /// All records will be Codec::raw_rgb8 of this size; append() refuses others. HDF5 then stores one array of images,
  /// other formats store what they always do.
  std::optional<RawShape> raw_shape;
};

/// Writes a packed dataset, record after record. Not thread-safe.
///
/// The output appears under its name only in finish(), whole and synced. Until then the work lies beside it, in
/// OUT.partial and OUT.journal, under a lock that other writers of OUT respect. A writer that is destroyed without
/// finish() leaves both for a resume; discard() removes them.
class StoreWriter {
 public:
  /// `info` gives classes, split names, fields and descriptions; counts and ranges are filled by the writer.
  /// Throws already_exists (OUT is there, or an interrupted build of it, and options allow neither overwriting nor
  /// resuming), busy, unsupported, invalid_argument (a resume with another fingerprint; options out of range) or io.
  static std::unique_ptr<StoreWriter> create(const std::filesystem::path& path, DatasetInfo info,
                                             const StoreOptions& options);
  virtual ~StoreWriter() = default;
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Records written so far; more than 0 after a resume.
  virtual std::uint64_t records() const noexcept = 0;
  /// Entries dealt with so far: records plus what was left out. A resumed build goes on with this entry of its source.
  virtual std::uint64_t entries() const noexcept = 0;

  /// Throws invalid_argument for a record that contradicts itself, the description or the options, refused or io.
  virtual void append(const Record& record) = 0;
  /// Notes that an entry of the source did not become a record. Long texts are cut, bytes that are not UTF-8 escaped.
  virtual void leave_out(const LeftOut& entry) = 0;
  /// Writes index and metadata and syncs, but does not publish: the outputs are whole under their temporary names. Only
  /// publish() or finish() may follow, in this process or, after an interruption, in one that resumes. Duplicate keys
  /// throw refused.
  virtual void seal() = 0;
  virtual bool sealed() const noexcept = 0;
  /// seal(), if that has not happened, then gives the outputs their names. The journal stays: a resume knows what was
  /// done.
  virtual void publish() = 0;
  /// publish(), if that has not happened, and removes the journal. The writer must not be used afterwards.
  virtual void finish() = 0;
  /// Removes everything that was written.
  virtual void discard() noexcept = 0;
  /// What was written; complete after seal().
  virtual const DatasetInfo& info() const noexcept = 0;

 protected:
  StoreWriter() = default;
};

}  // namespace imgpack
