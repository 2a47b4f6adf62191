#include <algorithm>

#include <doctest/doctest.h>

#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"

namespace imgpack::testing {

void check_holds(const StoreReader& store, const TestDataset& dataset) {
  REQUIRE(store.size() == dataset.records.size());
  CHECK(store.format() == Format::tfrecord);
  for (std::size_t i = 0; i < dataset.records.size(); ++i) {
    CAPTURE(i);
    const TestRecord& record = dataset.records[i];
    std::vector<std::string_view> fields;
    const Record view = view_of(record, fields);
    CHECK(store.key(i) == record.key);
    CHECK(store.meta(i) == view.meta);
    const RecordBytes bytes = store.bytes(i);
    CHECK(std::ranges::equal(bytes.payload, record.payload));
    CHECK(std::ranges::equal(bytes.segments, record.segments));
    for (std::size_t f = 0; f < fields.size(); ++f) CHECK(as_text(store.field(i, f)) == fields[f]);
    CHECK(store.find(record.key) == i);
  }
  CHECK(!store.find("no such key"));
}

void inspect(const std::filesystem::path& path, DamageList& found) {
  for (const Damage& damage : verify(path, VerifyOptions()).damage) found.report(damage);
  // Reading what verify has refused must be safe too.
  try {
    const auto store = open_store(path);
    for (std::uint64_t record = 0; record < store->size(); ++record) {
      try {
        store->bytes(record);
        for (std::size_t field = 0; field < store->info().fields.size(); ++field) store->field(record, field);
        store->find(store->key(record));
      } catch (const Error& error) {
        REQUIRE(error.code() == ErrorCode::damaged);
      }
    }
  } catch (const Error& error) {
    REQUIRE(error.code() == ErrorCode::damaged);
  }
}

}  // namespace imgpack::testing
