#include "imgpack/dataset.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "formats/each_format.h"
#include "formats/shards.h"
#include "imgpack/error.h"
#include "tests/support/files.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/images.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kHeight = 11;

/// Widths are 20, 21, ...; a JPEG, a PNG, pixels, and again.
TestDataset images(std::size_t count) {
  TestDataset dataset = make_dataset({.records = count});
  for (std::size_t i = 0; i < count; ++i) {
    TestRecord& record = dataset.records[i];
    const auto seed = static_cast<std::uint32_t>(i);
    const int width = 20 + static_cast<int>(i);
    record.meta.codec = std::array{Codec::jpeg, Codec::png, Codec::raw_rgb8}[i % 3];
    record.meta.width = static_cast<std::uint32_t>(width);
    record.meta.height = kHeight;
    record.meta.channels = 3;
    if (record.meta.codec == Codec::jpeg) record.payload = as_text(make_jpeg(width, kHeight, seed));
    if (record.meta.codec == Codec::png) record.payload = as_text(make_png(width, kHeight, seed));
    if (record.meta.codec == Codec::raw_rgb8) {
      record.payload.resize(record.meta.width * kHeight * 3);
      for (std::size_t k = 0; k < record.payload.size(); ++k) record.payload[k] = static_cast<char>(k * 7 + i);
    }
  }
  return dataset;
}

Dataset open_images(const TempDir& dir, const TestDataset& dataset, Format format = Format::rec) {
  write_dataset(output(dir, format), dataset, {.format = format});
  return Dataset::open(output(dir, format));
}

/// In shards of `size` records.
Dataset open_shards(const TempDir& dir, const TestDataset& dataset, std::size_t size, Format format = Format::rec) {
  const fs::path path = output(dir, format);
  const auto count = static_cast<std::uint32_t>(dataset.records.size() / size);
  for (std::uint32_t i = 0; i < count; ++i) {
    TestDataset part = dataset;
    const auto begin = dataset.records.begin() + static_cast<std::ptrdiff_t>(i * size);
    part.records.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
    write_dataset(shard_path(path, i, count), part, {.format = format});
  }
  return Dataset::open(path);
}

/// A store that says something else about itself.
class OtherInfo final : public ForwardingStore {
 public:
  OtherInfo(const fs::path& path, void (*change)(DatasetInfo&)) : ForwardingStore(open_store(path)) {
    info_ = ForwardingStore::info();
    change(info_);
  }
  const DatasetInfo& info() const noexcept override { return info_; }

 private:
  DatasetInfo info_;
};

}  // namespace

TEST_CASE("splits are selected by name") {
  TempDir dir;
  const Dataset dataset = open_images(dir, images(9));
  CHECK(dataset.size() == 9);
  CHECK(dataset.path() == output(dir, Format::rec));
  CHECK(dataset.info().classes.size() == 3);
  CHECK(dataset.select("") == std::vector<RecordRange>{{0, 9}});
  CHECK(dataset.select("train") == std::vector<RecordRange>{{0, 6}});
  CHECK(dataset.select("val") == std::vector<RecordRange>{{6, 9}});
  const Error error = error_of([&] { dataset.select("test"); });
  CHECK(error.code() == ErrorCode::not_found);
  CHECK(error.place().file == dataset.path());
  CHECK(error.message().find("test") != std::string::npos);
  CHECK(error.message().find("train, val") != std::string::npos);
}

TEST_CASE("a dataset without splits says so, and all of it can be selected") {
  TempDir dir;
  TestDataset without = images(3);
  without.info.splits.clear();
  for (TestRecord& record : without.records) record.split = 0;
  const Dataset dataset = open_images(dir, without);
  CHECK(dataset.select("") == std::vector<RecordRange>{{0, 3}});
  const Error error = error_of([&] { dataset.select("train"); });
  CHECK(error.code() == ErrorCode::not_found);
  CHECK(error.message().find("no splits") != std::string::npos);
}

TEST_CASE("a split of several ranges is selected in the order of the file") {
  TempDir dir;
  TestDataset alternating = images(6);
  for (std::size_t i = 0; i < 6; ++i) alternating.records[i].split = i / 2 % 2 == 0 ? 0 : 1;
  const Dataset dataset = open_shards(dir, alternating, 3);
  CHECK(dataset.select("train") == std::vector<RecordRange>{{0, 2}, {4, 6}});
  CHECK(dataset.select("val") == std::vector<RecordRange>{{2, 4}});
}

TEST_CASE("a split beyond the records is damage") {
  TempDir dir;
  write_dataset(dir / "data.rec", images(3), {});
  for (const auto change :
       {+[](DatasetInfo& info) { info.splits[1].end = 4; }, +[](DatasetInfo& info) { info.splits[1].begin = 4; }}) {
    const Dataset dataset(std::make_shared<OtherInfo>(dir / "data.rec", change));
    CHECK(code_of([&] { dataset.select("val"); }) == ErrorCode::damaged);
    CHECK(dataset.select("train") == std::vector<RecordRange>{{0, 2}});
  }
}

TEST_CASE("labels are those of the ranges, one after the other") {
  TempDir dir;
  const Dataset dataset = open_images(dir, images(6));  // labels -1, 0, 1, 2, -1, 0
  using Labels = std::vector<std::int64_t>;
  CHECK(dataset.labels(dataset.select("")) == Labels{-1, 0, 1, 2, -1, 0});
  CHECK(dataset.labels(dataset.select("val")) == Labels{-1, 0});
  CHECK(dataset.labels(std::vector<RecordRange>{{4, 6}, {0, 0}, {1, 3}}) == Labels{-1, 0, 0, 1});
  CHECK(dataset.labels({}).empty());
  CHECK(code_of([&] { dataset.labels(std::vector<RecordRange>{{5, 7}}); }) == ErrorCode::invalid_argument);
}

TEST_CASE("images are decoded as ImageDecoder decodes them, in every format") {
  const TestDataset expected = images(6);
  for_each_format([&](Format format) {
    TempDir dir;
    const Dataset dataset = open_images(dir, expected, format);
    ImageDecoder decoder(&decode_other_image);
    for (std::uint64_t record = 0; record < dataset.size(); ++record) {
      RgbImage image;
      REQUIRE(decoder.decode(dataset.store().meta(record), dataset.store().bytes(record), image).ok());
      const DecodedImage decoded = dataset.decode(record);
      CHECK(decoded.height == kHeight);
      CHECK(decoded.width == 20 + record);
      CHECK(std::ranges::equal(std::as_bytes(std::span(decoded.pixels)), image.bytes()));
    }
    const DecodedImage raw = dataset.decode(2);
    CHECK(as_text(std::as_bytes(std::span(raw.pixels))) == expected.records[2].payload);
  });
}

TEST_CASE("an image that is none is an error with file, record and offset") {
  for_each_format([&](Format format) {
    TempDir dir;
    TestDataset damaged = images(4);
    damaged.records[3].payload = "no JPEG at all";
    const Dataset dataset = open_images(dir, damaged, format);
    const Error error = error_of([&] { dataset.decode(3); });
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().file == dataset.path());
    CHECK(error.place().record == 3);
    CHECK(error.place().offset == dataset.store().place(3).offset);
    CHECK(error.message().find(damaged.records[3].key) != std::string::npos);
    CHECK(dataset.decode(0).width == 20);
    CHECK(code_of([&] { dataset.decode(4); }) == ErrorCode::invalid_argument);
  });
}

TEST_CASE("in shards, an error names the shard's file and the record's number there") {
  TempDir dir;
  TestDataset damaged = images(6);
  damaged.records[5].payload = "no pixels";
  damaged.records[5].meta.codec = Codec::jpeg;
  const Dataset dataset = open_shards(dir, damaged, 2);
  const fs::path shard = shard_path(output(dir, Format::rec), 2, 3);
  const Error error = error_of([&] { dataset.decode(5); });
  CHECK(error.code() == ErrorCode::damaged);
  CHECK(error.place().file == shard);
  CHECK(error.place().record == 1);
  CHECK(error.place().offset == open_store(shard)->place(1).offset);
}

TEST_CASE("sizes that are not the image's, or nothing, or too much, are refused") {
  TempDir dir;
  TestDataset wrong = images(6);
  wrong.records[0].meta.width += 1;
  wrong.records[1].meta.height = 0;
  wrong.records[3].meta.width = 0;
  wrong.records[4].meta.width = wrong.records[4].meta.height = std::numeric_limits<std::uint32_t>::max();
  const Dataset dataset = open_images(dir, wrong);
  CHECK(code_of([&] { dataset.decode(0); }) == ErrorCode::damaged);
  CHECK(code_of([&] { dataset.decode(1); }) == ErrorCode::damaged);
  CHECK(code_of([&] { dataset.decode(3); }) == ErrorCode::damaged);
  for (const std::uint64_t most : {kDefaultMaxPixels, std::numeric_limits<std::uint64_t>::max()}) {
    CHECK(code_of([&] { dataset.decode(4, most); }) == ErrorCode::out_of_memory);
  }
  const std::uint64_t pixels = 22 * kHeight;
  CHECK(dataset.decode(2, pixels).width == 22);
  CHECK(code_of([&] { dataset.decode(2, pixels - 1); }) == ErrorCode::out_of_memory);
}

TEST_CASE("a codec of which nothing is known is unsupported or damage, not a crash") {
  TempDir dir;
  TestDataset unknown = images(1);
  unknown.records[0].meta.codec = Codec::unknown;
  const Dataset dataset = open_images(dir, unknown);
  const ErrorCode code = code_of([&] { dataset.decode(0); });
  CHECK((code == ErrorCode::unsupported || code == ErrorCode::damaged));
}

TEST_CASE("fingerprints are equal for equal content in every format, cut into the same shards") {
  const TestDataset content = images(6);
  TempDir dir;
  const std::uint64_t whole = open_images(dir, content).fingerprint();
  TempDir dir_of_shards;
  const std::uint64_t shards = open_shards(dir_of_shards, content, 2).fingerprint();
  CHECK(whole != shards);
  for_each_format([&](Format format) {
    TempDir other;
    CHECK(open_images(other, content, format).fingerprint() == whole);
    TempDir other_shards;
    CHECK(open_shards(other_shards, content, 2, format).fingerprint() == shards);
  });
  TestDataset changed = content;
  changed.records[4].meta.label = 1;
  TempDir another;
  CHECK(open_images(another, changed).fingerprint() != whole);
}

TEST_CASE("a fingerprint that is not stored is computed") {
  TempDir dir;
  const Dataset dataset = open_images(dir, images(5));
  const auto forget = [](DatasetInfo& info) { info.content_digest = 0; };
  CHECK(Dataset(std::make_shared<OtherInfo>(dataset.path(), forget)).fingerprint() == dataset.fingerprint());
}

TEST_CASE("copies of a dataset share its store, which outlives the first") {
  TempDir dir;
  auto first = std::make_unique<Dataset>(open_images(dir, images(3)));
  const Dataset copy = *first;
  CHECK(&copy.store() == &first->store());
  first.reset();
  CHECK(copy.decode(0).width == 20);
}

TEST_CASE("what is not there is not opened") {
  TempDir dir;
  CHECK(code_of([&] { Dataset::open(dir / "missing.rec"); }) == ErrorCode::not_found);
  CHECK(code_of([&] { Dataset(nullptr); }) == ErrorCode::invalid_argument);
}
