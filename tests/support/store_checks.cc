// Apart from store_fixture.cc, because fuzzers use the fixture without doctest.
#include <doctest/doctest.h>

#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

namespace imgpack::testing {

void check_equal(const StoreReader& store, const TestDataset& dataset) {
  REQUIRE(store.size() == dataset.records.size());
  CHECK(store.info().records == dataset.records.size());
  CHECK(store.info().classes == dataset.info.classes);
  CHECK(store.info().fields == dataset.info.fields);
  CHECK(store.info().metadata == dataset.info.metadata);
  CHECK(store.info().source_kind == dataset.info.source_kind);
  for (std::size_t i = 0; i < dataset.records.size(); ++i) {
    CAPTURE(i);
    const TestRecord& expected = dataset.records[i];
    const RecordMeta meta = store.meta(i);
    CHECK(store.key(i) == expected.key);
    CHECK(meta.label == expected.meta.label);
    CHECK(meta.width == expected.meta.width);
    CHECK(meta.height == expected.meta.height);
    CHECK(meta.channels == expected.meta.channels);
    CHECK(meta.codec == expected.meta.codec);
    CHECK(meta.payload_size == expected.payload.size());
    CHECK(meta.segments_size == expected.segments.size());
    CHECK(meta.checksum == record_checksum(as_bytes(expected.payload), as_bytes(expected.segments)));
    const RecordBytes bytes = store.bytes(i);
    CHECK(as_text(bytes.payload) == expected.payload);
    CHECK(as_text(bytes.segments) == expected.segments);
    for (std::size_t f = 0; f < expected.fields.size(); ++f) CHECK(as_text(store.field(i, f)) == expected.fields[f]);
    CHECK(store.find(expected.key) == i);
    const PayloadPlace place = store.place(i);
    CHECK(place.size == expected.payload.size());
  }
  CHECK_FALSE(store.find("no such key").has_value());
}

}  // namespace imgpack::testing
