#include "formats/lmdb/environment.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/paths.h"
#include "mmap/system_error.h"

namespace imgpack::lmdb {

namespace {

// Both bound a transaction's memory: liblmdb keeps what it writes in memory until the commit.
constexpr std::uint64_t kBytesPerCommit = 32u << 20;
constexpr std::uint64_t kGroupsPerCommit = 8192;

// Address space costs nothing, running out of it costs the build.
constexpr std::uint64_t kSlack = 512u << 20;

// Each transaction touches a few pages of the map, and the kernel maps 64 KiB around each. Mapping anew takes them out
// of the resident set.
constexpr std::uint64_t kTransactionsPerMap = 128;

MDB_val val_of(std::span<const std::byte> bytes) {
  return {.mv_size = bytes.size(), .mv_data = const_cast<std::byte*>(bytes.data())};
}

}  // namespace

Environment::Environment(const std::filesystem::path& path) : path_(path) {
  MDB_env* env = nullptr;
  if (const int code = mdb_env_create(&env)) fail(code, "prepare");
  env_.reset(env);
  if (const int code = mdb_env_set_maxdbs(env, 8)) fail(code, "prepare");
  map_size_ = kSlack;
  if (const int code = mdb_env_set_mapsize(env, map_size_)) fail(code, "prepare");
  constexpr unsigned kFlags = MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOLOCK;
  if (const int code = mdb_env_open(env, path.c_str(), kFlags, 0666)) fail(code, "open");
  MDB_stat stat;
  if (const int code = mdb_env_stat(env, &stat)) fail(code, "open");
  page_size_ = stat.ms_psize;
  file_ = File::open(path, File::Mode::read_write);
  writeback_from_ = used_bytes();
  reserve(0);
}

std::uint64_t Environment::used_bytes() const {
  MDB_envinfo info;
  mdb_env_info(env_.get(), &info);
  return (info.me_last_pgno + 1) * page_size_;
}

void Environment::reserve(std::uint64_t bytes) {
  // Headers, half-filled pages and copies of pages that change come on top of what is asked for.
  const std::uint64_t needed = used_bytes() + 2 * bytes + kSlack;
  if (needed <= map_size_ && ++reserved_since_map_ < kTransactionsPerMap) return;
  reserved_since_map_ = 0;
  map_size_ = std::max(map_size_, std::bit_ceil(needed));
  if (const int code = mdb_env_set_mapsize(env_.get(), map_size_)) fail(code, "grow the map of");
}

void Environment::start_writeback() {
  const std::uint64_t end = used_bytes();
  if (end > writeback_from_) file_.start_writeback(writeback_from_, end - writeback_from_);
  writeback_from_ = end;
}

void Environment::fail(int code, std::string_view what) {
  if (code == EIO && file_.is_open()) {
    // liblmdb reports a write that the kernel cut short as EIO. Writing ourselves gets the kernel's reason: a full
    // disk, a quota, a file size limit. Nothing refers to these bytes.
    const std::vector<std::byte> zeros(1u << 20);
    const std::uint64_t end = file_.size();
    file_.write_at(end, zeros);
    file_.truncate(end);
  }
  if (code > 0) throw system_error(code, what, path_);
  const bool damaged = code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND || code == MDB_INVALID || code == MDB_PANIC ||
                       code == MDB_VERSION_MISMATCH || code == MDB_KEYEXIST || code == MDB_BAD_TXN;
  throw Error(damaged ? ErrorCode::damaged : ErrorCode::io, fmt::format("cannot {}: {}", what, mdb_strerror(code)),
              in_file(path_));
}

MDB_txn* Appender::transaction() {
  if (txn_) return txn_.get();
  environment_.reserve(std::max(kBytesPerCommit, group_bytes_));
  MDB_txn* txn = nullptr;
  if (const int code = mdb_txn_begin(environment_.get(), nullptr, 0, &txn)) environment_.fail(code, "write");
  txn_.reset(txn);
  return txn;
}

void Appender::begin_group(std::uint64_t bytes) {
  const bool full =
      pending_groups_ == kGroupsPerCommit || bytes > kBytesPerCommit - std::min(pending_bytes_, kBytesPerCommit);
  // A transaction that was opened only to look needs another map size than one for this group.
  if (pending_groups_ == 0 || full) commit();
  group_bytes_ = bytes;
  pending_bytes_ += bytes;
  ++pending_groups_;
}

MDB_dbi Appender::open(std::string_view name) {
  MDB_dbi database;
  const std::string text(name);
  const int code =
      mdb_dbi_open(transaction(), name.empty() ? nullptr : text.c_str(), name.empty() ? 0 : MDB_CREATE, &database);
  if (code != MDB_SUCCESS) environment_.fail(code, "write");
  return database;
}

void Appender::append(MDB_dbi database, std::span<const std::byte> key, std::span<const std::byte> value) {
  MDB_val k = val_of(key);
  MDB_val v = val_of(value);
  if (const int code = mdb_put(transaction(), database, &k, &v, MDB_APPEND)) environment_.fail(code, "write");
}

std::uint64_t Appender::entries(MDB_dbi database) {
  MDB_stat stat;
  if (const int code = mdb_stat(transaction(), database, &stat)) environment_.fail(code, "read");
  return stat.ms_entries;
}

bool Appender::has(MDB_dbi database, std::span<const std::byte> key, std::span<const std::byte> value) {
  MDB_val k = val_of(key);
  MDB_val v;
  const int code = mdb_get(transaction(), database, &k, &v);
  if (code == MDB_NOTFOUND) return false;
  if (code != MDB_SUCCESS) environment_.fail(code, "read");
  return v.mv_size == value.size() && (value.empty() || std::memcmp(v.mv_data, value.data(), value.size()) == 0);
}

void Appender::commit() {
  if (!txn_) return;
  if (const int code = mdb_txn_commit(txn_.release())) environment_.fail(code, "write");
  pending_bytes_ = 0;
  pending_groups_ = 0;
  environment_.start_writeback();
}

}  // namespace imgpack::lmdb
