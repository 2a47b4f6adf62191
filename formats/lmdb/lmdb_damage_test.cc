#include <algorithm>

#include <doctest/doctest.h>

#include "formats/lmdb/container.h"
#include "formats/lmdb/container_check.h"
#include "formats/lmdb/sample_data.h"
#include "formats/lmdb/tree_walk.h"
#include "imgpack/error.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

namespace imgpack::testing {

namespace {

/// Whether anything that verification does finds fault with these bytes.
bool finds_damage(std::span<const std::byte> file) {
  const std::filesystem::path path = "damaged.lmdb";
  try {
    const lmdb::Container container = lmdb::Container::open(file, path);
    DamageList damage;
    lmdb::check_container(
        container, [] {}, damage);
    if (!damage.found.empty()) return true;
    for (std::uint64_t i = 0; i < container.records(); ++i) {
      const lmdb::Value payload = container.payload(i);
      if (record_checksum(payload.bytes, container.segments(i)) != container.row(i).meta.checksum) return true;
    }
    return false;
  } catch (const Error& error) {
    CHECK((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));
    return true;
  }
}

/// The bytes that README.md says no check finds: transaction numbers in the free list.
class FreeListKeys final : public lmdb::TreeVisitor {
 public:
  void visit_entry(const lmdb::LeafNode& node, const lmdb::Value&) override {
    begins.push_back(node.file_offset + lmdb::kNodeHeaderSize);
  }
  bool contain(std::uint64_t offset) const {
    return std::any_of(begins.begin(), begins.end(),
                       [&](std::uint64_t begin) { return offset >= begin && offset < begin + 8; });
  }
  std::vector<std::uint64_t> begins;
};

FreeListKeys free_list_keys(std::span<const std::byte> file) {
  const std::filesystem::path path = "sound.lmdb";
  const lmdb::Meta meta = lmdb::usable_metas(file).front();
  const lmdb::PageReader pages(file, path, meta);
  lmdb::PageSet used(meta.last_page + 1);
  FreeListKeys keys;
  lmdb::walk_tree(pages, meta.free_list, lmdb::TreeOrder::free_list, used, keys);
  return keys;
}

void expect_flips_found(const Sample& sample, std::size_t step) {
  const TempDir dir;
  write_sample(dir / "out.lmdb", sample);
  const std::vector<std::byte> file = read_file(dir / "out.lmdb");
  REQUIRE_FALSE(finds_damage(file));
  const FreeListKeys exempt = free_list_keys(file);
  std::vector<std::size_t> missed;
  for_each_flip(file, step, [&](std::span<const std::byte> damaged, std::size_t offset) {
    if (!finds_damage(damaged) && !exempt.contain(offset)) missed.push_back(offset);
  });
  CHECK(missed == std::vector<std::size_t>{});
}

}  // namespace

TEST_CASE("every changed byte of an LMDB file is found") {
  expect_flips_found(rich_sample(true), 1);
}

TEST_CASE("changed bytes of an LMDB file with branch pages are found") {
  expect_flips_found(plain_sample(400, [](std::uint64_t i) { return i % 40; }), 29);
}

TEST_CASE("an LMDB file that is cut anywhere does not open") {
  const TempDir dir;
  write_sample(dir / "out.lmdb", rich_sample(true));
  const std::vector<std::byte> file = read_file(dir / "out.lmdb");
  for_each_cut(file, 1, [&](std::span<const std::byte> cut) {
    if (cut.size() % 1024 != 0) {
      CHECK(finds_damage(cut));
      return;
    }
    write_file(dir / "cut.lmdb", cut);
    CHECK_THROWS_AS(open_store(dir / "cut.lmdb"), Error);
  });
}

TEST_CASE("damage is reported with its place") {
  const TempDir dir;
  const Sample sample = rich_sample(false);
  write_sample(dir / "out.lmdb", sample);
  std::vector<std::byte> file = read_file(dir / "out.lmdb");
  const PayloadPlace place = open_store(dir / "out.lmdb")->place(5);
  file[place.offset - 2] = std::byte{0xff};  // in the overflow page's count
  write_file(dir / "out.lmdb", file);
  const auto store = open_store(dir / "out.lmdb");
  try {
    store->bytes(5);
    FAIL("read");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().file == (dir / "out.lmdb").string());
    CHECK(error.place().record == 5);
    CHECK(error.place().offset == place.offset - 4);
  }
  CHECK(store->bytes(6).payload.size() == 1500000);
  DamageList damage;
  store->check_container(damage);
  REQUIRE_FALSE(damage.found.empty());
  CHECK(damage.found[0].record == 5);
  CHECK(damage.found[0].offset == place.offset - 4);
}

}  // namespace imgpack::testing
