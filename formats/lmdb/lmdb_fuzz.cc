// Feeds bytes to everything that reads LMDB files without liblmdb.
#include <algorithm>
#include <filesystem>

#include "formats/lmdb/container.h"
#include "formats/lmdb/container_check.h"
#include "formats/lmdb/sample_data.h"
#include "formats/lmdb/tree_walk.h"
#include "imgpack/error.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

namespace {

using namespace imgpack;

// A file may claim more records than it has; asking for each of them would only take time.
constexpr std::uint64_t kMaxRecords = 500;

class Ignore final : public DamageSink {
 public:
  bool report(Damage) override { return true; }
};

class Count final : public lmdb::TreeVisitor {
 public:
  void visit_entry(const lmdb::LeafNode&, const lmdb::Value& value) override { bytes += value.bytes.size(); }
  void visit_damage(const Error&) override {}
  std::uint64_t bytes = 0;
};

template <typename Step>
void expect_damage_at_worst(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged && error.code() != ErrorCode::unsupported) throw;
  }
}

void read_records(const lmdb::Container& container) {
  for (std::uint64_t i = 0; i < std::min(container.records(), kMaxRecords); ++i) {
    expect_damage_at_worst([&] { container.payload(i); });
    expect_damage_at_worst([&] { container.segments(i); });
    expect_damage_at_worst([&] { container.find(container.key(i)); });
    expect_damage_at_worst([&] {
      const lmdb::Row row = container.row(i);
      for (std::size_t f = 0; f < container.info().fields.size(); ++f) {
        lmdb::row_field(row, container.info().fields, f);
      }
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const std::filesystem::path path = "fuzz.lmdb";
  expect_damage_at_worst([&] {
    const lmdb::Container container = lmdb::Container::open(file, path);
    Ignore ignore;
    lmdb::check_container(
        container, [] {}, ignore);
    read_records(container);
  });
  for (const lmdb::Meta& meta : lmdb::usable_metas(file)) {
    const lmdb::PageReader pages(file, path, meta);
    lmdb::PageSet used(meta.last_page + 1);
    Count count;
    lmdb::walk_tree(pages, meta.free_list, lmdb::TreeOrder::free_list, used, count);
    lmdb::walk_tree(pages, meta.main, lmdb::TreeOrder::appended, used, count);
  }
  return 0;
}

namespace imgpack::testing {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  const TempDir dir;
  write_sample(dir / "rich.lmdb", rich_sample(true));
  write_sample(dir / "deep.lmdb", plain_sample(400, [](std::uint64_t i) { return i % 40; }));
  return {read_file(dir / "rich.lmdb"), read_file(dir / "deep.lmdb")};
}

}  // namespace imgpack::testing
