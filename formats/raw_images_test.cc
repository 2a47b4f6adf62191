// Datasets of raw images of one size: what every format makes of the promise that there are no others.
#include <optional>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/backend.h"
#include "formats/each_format.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

TEST_CASE("records of a dataset of raw images of one size have that size") {
  constexpr RawShape kShape{.height = 5, .width = 7};
  for_each_format([&](Format format) {
    const StoreOptions options{.format = format, .overwrite = true, .raw_shape = kShape};
    for (const std::size_t records : {0, 1, 13}) {
      CAPTURE(records);
      TempDir dir;
      const TestDataset dataset = make_dataset({.records = records, .fields = true, .raw_shape = kShape});
      write_dataset(output(dir, format), dataset, options);
      check_equal(*open_store(output(dir, format)), dataset);
      CHECK(verify(output(dir, format), {}).damage_count == 0);
    }
    TempDir dir;
    TestDataset dataset = make_dataset({.records = 2, .raw_shape = kShape});
    const auto refuses = [&](auto&& change) {
      TestDataset changed = dataset;
      change(changed.records[1]);
      const auto writer = StoreWriter::create(output(dir, format), dataset.info, options);
      append_records(*writer, changed, 0, 1);
      return code_of([&] { append_records(*writer, changed, 1, 2); }) == ErrorCode::invalid_argument;
    };
    CHECK(refuses([](TestRecord& record) { record.meta.codec = Codec::raw_rgb8_zstd; }));
    CHECK(refuses([](TestRecord& record) { std::swap(record.meta.width, record.meta.height); }));
    CHECK(refuses([](TestRecord& record) { record.meta.channels = 1; }));
    CHECK(refuses([](TestRecord& record) { record.payload.pop_back(); }));
  });
}

TEST_CASE("raw images of no size or an absurd one are refused at once") {
  TempDir dir;
  for (const RawShape shape : {RawShape{0, 7}, RawShape{7, 0}, RawShape{65'536, 1}, RawShape{1, 0xffff'ffff}}) {
    CHECK(code_of([&] { StoreWriter::create(dir / "x.rec", {}, {.raw_shape = shape}); }) ==
          ErrorCode::invalid_argument);
  }
  CHECK(fs::is_empty(dir.path()));
}

TEST_CASE("a resume with images of another size is refused") {
  for_each_format([](Format format) {
    TempDir dir;
    StoreOptions options{.format = format, .fingerprint = "f", .raw_shape = RawShape{4, 9}};
    const TestDataset dataset = make_dataset({.records = 3, .raw_shape = options.raw_shape});
    append_records(*StoreWriter::create(output(dir, format), dataset.info, options), dataset, 0, 3);
    options.resume = true;
    for (const std::optional<RawShape> other : {std::optional<RawShape>(), std::optional(RawShape{9, 4})}) {
      StoreOptions changed = options;
      changed.raw_shape = other;
      CHECK(code_of([&] { StoreWriter::create(output(dir, format), dataset.info, changed); }) ==
            ErrorCode::invalid_argument);
    }
    CHECK(StoreWriter::create(output(dir, format), dataset.info, options)->records() <= 3);
  });
}
