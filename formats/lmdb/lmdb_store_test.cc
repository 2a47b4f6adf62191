#include <algorithm>
#include <thread>

#include <doctest/doctest.h>
#include <lmdb.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/lmdb/sample_data.h"
#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::testing {

namespace {

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Compares everything that a reader gives with what was written. A plain function, so that a forked child can use it.
bool matches(const StoreReader& store, const Sample& sample) {
  if (store.size() != sample.records.size()) return false;
  for (std::uint64_t i = 0; i < store.size(); ++i) {
    const SampleRecord& expected = sample.records[i];
    const RecordBytes bytes = store.bytes(i);
    if (!same(bytes.payload, expected.payload) || !same(bytes.segments, expected.segments)) return false;
    if (store.meta(i) != expected.meta || store.key(i) != expected.key || store.find(expected.key) != i) return false;
    for (std::size_t f = 0; f < expected.fields.size(); ++f) {
      if (!same(store.field(i, f), as_bytes(expected.fields[f]))) return false;
    }
    const PayloadPlace place = store.place(i);
    if (*place.file != store.path() || place.size != expected.payload.size()) return false;
  }
  return true;
}

std::vector<Damage> check(const StoreReader& store) {
  DamageList damage;
  store.check_container(damage);
  return damage.found;
}

}  // namespace

TEST_CASE("a dataset with one of everything comes back from LMDB as it went in") {
  const TempDir dir;
  const Sample sample = rich_sample(false);
  write_sample(dir / "out.lmdb", sample);
  const auto store = open_store(dir / "out.lmdb");
  CHECK(store->format() == Format::lmdb);
  CHECK(matches(*store, sample));
  CHECK(store->info().classes == sample.info.classes);
  CHECK(store->info().fields == sample.info.fields);
  CHECK(store->info().metadata == sample.info.metadata);
  REQUIRE(store->info().splits.size() == 2);
  CHECK(store->info().splits[1] == Split{.name = "val", .begin = 7, .end = 9});
  CHECK(check(*store).empty());
  CHECK_FALSE(store->find("not there"));

  const std::vector<std::byte> file = read_file(dir / "out.lmdb");
  const PayloadPlace place = store->place(5);
  CHECK(same(std::span(file).subspan(place.offset, place.size), sample.records[5].payload));
  store->prefetch(0, store->size());
  store->release(0, store->size());
  CHECK(matches(*store, sample));
}

TEST_CASE("reading leaves nothing beside the file") {
  const TempDir dir;
  write_sample(dir / "out.lmdb", rich_sample(true));
  open_store(dir / "out.lmdb")->bytes(0);
  const std::filesystem::directory_iterator files(dir.path());
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("an empty LMDB dataset opens and is sound") {
  const TempDir dir;
  Sample sample;
  write_sample(dir / "out.lmdb", sample);
  const auto store = open_store(dir / "out.lmdb");
  CHECK(store->size() == 0);
  CHECK(check(*store).empty());
  CHECK_FALSE(store->find("anything"));
  CHECK_THROWS_AS(store->bytes(0), Error);
}

TEST_CASE("many records make deep trees that stay sound and compact") {
  const TempDir dir;
  const Sample sample = plain_sample(30000, [](std::uint64_t i) { return i % 97; });
  write_sample(dir / "out.lmdb", sample);
  const auto store = open_store(dir / "out.lmdb");
  CHECK(matches(*store, sample));
  CHECK(check(*store).empty());
  std::uint64_t content = 0;
  for (const SampleRecord& record : sample.records)
    content += record.payload.size() + record.key.size() + 42 + 4 * 16 + 8;
  CHECK(std::filesystem::file_size(dir / "out.lmdb") < content * 3 / 2);
}

TEST_CASE("keys get more digits where more records are expected") {
  const TempDir dir;
  const Sample sample = plain_sample(3, [](std::uint64_t) { return 10; });
  StoreOptions options = lmdb_options();
  options.expected_records = 100'000'001;
  const auto writer = StoreWriter::create(dir / "out.lmdb", sample.info, options);
  append_until(*writer, sample, 3);
  writer->finish();
  const auto store = open_store(dir / "out.lmdb");
  CHECK(matches(*store, sample));
  CHECK(check(*store).empty());
  const std::vector<std::byte> file = read_file(dir / "out.lmdb");
  CHECK(as_text(file).find("000000002") != std::string_view::npos);
}

TEST_CASE("two records with the same key are refused") {
  const TempDir dir;
  Sample sample = plain_sample(5, [](std::uint64_t) { return 10; });
  sample.records[4].key = sample.records[1].key;
  try {
    write_sample(dir / "out.lmdb", sample);
    FAIL("not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::refused);
    CHECK(error.message().find("1 and 4") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(dir / "out.lmdb"));
}

TEST_CASE("an opened LMDB dataset can be read by threads and after fork") {
  const TempDir dir;
  const Sample sample = plain_sample(2000, [](std::uint64_t i) { return i * 13 % 6000; });
  write_sample(dir / "out.lmdb", sample);
  const auto store = open_store(dir / "out.lmdb");

  bool good[4] = {};
  std::vector<std::thread> threads;
  for (bool& result : good) threads.emplace_back([&] { result = matches(*store, sample); });
  for (std::thread& thread : threads) thread.join();
  for (const bool result : good) CHECK(result);

  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(matches(*store, sample) ? 0 : 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(matches(*store, sample));
}

TEST_CASE("LMDB files of other programs are named as such") {
  const TempDir dir;
  MDB_env* env = nullptr;
  REQUIRE(mdb_env_create(&env) == 0);
  REQUIRE(mdb_env_open(env, (dir / "foreign.lmdb").c_str(), MDB_NOSUBDIR | MDB_NOLOCK, 0644) == 0);
  MDB_txn* txn = nullptr;
  REQUIRE(mdb_txn_begin(env, nullptr, 0, &txn) == 0);
  MDB_dbi dbi;
  REQUIRE(mdb_dbi_open(txn, nullptr, 0, &dbi) == 0);
  char text[] = "hello";
  MDB_val value{.mv_size = 5, .mv_data = text};
  REQUIRE(mdb_put(txn, dbi, &value, &value, 0) == 0);
  REQUIRE(mdb_txn_commit(txn) == 0);
  mdb_env_close(env);
  try {
    open_store(dir / "foreign.lmdb");
    FAIL("opened");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(error.message().find("not a finished one of imgpack") != std::string::npos);
  }
}

}  // namespace imgpack::testing
