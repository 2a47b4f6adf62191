// liblmdb behind RAII and Errors, as far as a writer of one file needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include <lmdb.h>

#include "mmap/file.h"

namespace imgpack::lmdb {

/// The file, opened for writing by one process, without lock file and without syncing. Not thread-safe.
class Environment {
 public:
  explicit Environment(const std::filesystem::path& path);

  MDB_env* get() const noexcept { return env_.get(); }
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Before a transaction: makes the map large enough for `bytes` more. REQUIRES: no transaction is open.
  void reserve(std::uint64_t bytes);
  /// Hands what was committed since the last call to the disk without waiting.
  void start_writeback();
  /// Throws the Error for return code `code` of a call that was to `what`.
  [[noreturn]] void fail(int code, std::string_view what);

 private:
  std::uint64_t used_bytes() const;

  struct Close {
    void operator()(MDB_env* env) const noexcept { mdb_env_close(env); }
  };
  std::filesystem::path path_;
  std::unique_ptr<MDB_env, Close> env_;
  File file_;
  std::uint64_t map_size_ = 0;
  std::uint64_t reserved_since_map_ = 0;
  std::uint64_t page_size_ = 4096;
  std::uint64_t writeback_from_ = 0;
};

/// Appends entries in transactions whose ends depend on the entries alone, not on time or on interruptions: that makes
/// page allocation, and so the file, reproducible. Destroyed with a transaction open, it aborts that.
class Appender {
 public:
  explicit Appender(Environment& environment) : environment_(environment) {}

  /// A new group of entries with about `bytes` bytes follows, which must not be torn apart. Commits first if what was
  /// appended since the last commit has grown enough.
  void begin_group(std::uint64_t bytes);
  /// The named database, or the main database for an empty name. Creates it if need be.
  MDB_dbi open(std::string_view name);
  /// REQUIRES: `key` is greater than all keys of the database.
  void append(MDB_dbi database, std::span<const std::byte> key, std::span<const std::byte> value);
  std::uint64_t entries(MDB_dbi database);
  /// Whether the database has exactly this entry.
  bool has(MDB_dbi database, std::span<const std::byte> key, std::span<const std::byte> value);
  void commit();

 private:
  MDB_txn* transaction();

  struct Abort {
    void operator()(MDB_txn* txn) const noexcept { mdb_txn_abort(txn); }
  };
  Environment& environment_;
  std::unique_ptr<MDB_txn, Abort> txn_;
  std::uint64_t group_bytes_ = 0;    ///< of the group that begins now
  std::uint64_t pending_bytes_ = 0;  ///< since the last commit
  std::uint64_t pending_groups_ = 0;
};

}  // namespace imgpack::lmdb
