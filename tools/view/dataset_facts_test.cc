#include "tools/view/dataset_facts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"
#include "tools/view/report_document.h"
#include "tools/view/view_testing.h"

namespace imgpack::tools {

using testing::make_jpeg;
using testing::make_png;

namespace {

/// 24 ordinary JPEGs of cats and one dog, and a few that stand out. The last two are of val.
std::vector<testing::ViewRecord> some_records() {
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 24; ++i) {
    records.push_back({.key = fmt::format("cat{}", i), .payload = make_jpeg(100, 80, i + 1), .label = 0});
  }
  std::vector<std::byte> half = make_jpeg(200, 200, 90);
  half.resize(half.size() / 2);
  std::vector<std::byte> dented = make_jpeg(200, 200, 91);
  dented[dented.size() / 2] = std::byte{0xff};  // an end-of-image marker, too early
  dented[dented.size() / 2 + 1] = std::byte{0xd9};
  records.push_back({.key = "half", .payload = half, .label = 0});
  records.push_back({.key = "dented", .payload = dented, .label = 0});
  records.push_back({.key = "progressive", .payload = make_jpeg(64, 64, 92, {.progressive = true}), .label = 0});
  records.push_back({.key = "no index", .payload = make_jpeg(64, 64, 93), .label = 0, .index = false});
  records.push_back({.key = "long", .payload = make_jpeg(300, 40, 94), .label = 1});
  records.push_back({.key = "gray", .payload = make_jpeg(64, 64, 95, {.gray = true}), .label = 0, .split = 1});
  records.push_back({.key = "tiny", .payload = make_png(16, 16, 96), .label = kNoLabel, .split = 1});
  return records;
}

std::vector<std::uint64_t> kept(const DatasetFacts& facts, Suspicion suspicion) {
  std::vector<std::uint64_t> records;
  for (const Finding& finding : facts.findings.kept(suspicion)) records.push_back(finding.record);
  return records;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("facts about a dataset") {
  const testing::TempDir temp;
  testing::write_view_records(temp / "a.rec", some_records());
  const Collection collection = Collection::open({temp / "a.rec"}, {});
  const DatasetFacts facts = gather_facts(collection, {.threads = 2});
  CHECK(facts.records == 31);
  CHECK(facts.split_records == Numbers{29, 2, 0});
  CHECK(facts.count(0, 0) == 28);
  CHECK(facts.count(0, 1) == 1);
  CHECK(facts.class_count(1) == 1);
  CHECK(facts.class_count(3) == 1);  // without a label
  CHECK(facts.codecs.at(Codec::jpeg) == 30);
  CHECK(facts.jpeg_kinds.at("4:2:0") == 28);
  CHECK(facts.jpeg_kinds.at("progressive") == 1);
  CHECK(facts.jpeg_kinds.at("gray") == 1);
  CHECK(facts.indexed == 26);
  CHECK(facts.unindexed.at("progressive") == 1);
  CHECK(facts.unindexed.at("none was made") == 1);
  CHECK(facts.unindexed.at("damaged") == 2);
  CHECK(facts.unindexed.at("no JPEG: png") == 1);
  CHECK(facts.decoded == 30);
  CHECK(kept(facts, Suspicion::damaged) == Numbers{24});
  CHECK(kept(facts, Suspicion::incomplete) == Numbers{25});
  CHECK(kept(facts, Suspicion::extreme_aspect) == Numbers{28});
  CHECK(kept(facts, Suspicion::gray) == Numbers{29});
  CHECK(kept(facts, Suspicion::tiny) == Numbers{30});
  REQUIRE(facts.small_class_count == 1);  // the class without records
  CHECK(facts.small_classes[0].index == 2);
}

TEST_CASE("the document does not depend on the number of threads") {
  const testing::TempDir temp;
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 200; ++i) {
    records.push_back({.key = fmt::format("{}", i), .payload = make_jpeg(20, 40, i % 90), .label = i % 2});
  }
  testing::write_view_records(temp / "a.rec", records);
  const Collection collection = Collection::open({temp / "a.rec"}, {});
  const auto document = [&](unsigned threads) {
    return report_document(collection, gather_facts(collection, {.threads = threads, .most_listed = 5}), {});
  };
  const Json one = document(1);
  CHECK(one["suspicious"]["tiny"]["count"] == 200);
  CHECK(one["suspicious"]["tiny"]["listed"].size() == 5);
  CHECK(one["duplicates"]["groups"] == 90);
  CHECK(one["duplicates"]["listed"].size() == 5);
  CHECK(one.dump() == document(4).dump());
}

TEST_CASE("a copy in another file, indexed there and not here, is leakage") {
  const testing::TempDir temp;
  const std::vector<std::byte> same = make_jpeg(50, 50, 1);
  testing::write_view_records(temp / "train.rec",
                              {{.key = "a", .payload = same}, {.key = "b", .payload = make_jpeg(50, 50, 2)}}, {});
  testing::write_view_records(temp / "val.rec", {{.key = "c", .payload = same, .index = false}}, {});
  const Collection collection = Collection::open({temp / "train.rec", temp / "val.rec"}, {});
  const DatasetFacts facts = gather_facts(collection, {});
  CHECK(facts.duplicates.leakage_records == 2);
  REQUIRE(facts.duplicates.listed.size() == 1);
  CHECK(facts.duplicates.listed[0].members == Numbers{0, 2});
  CHECK(facts.duplicates.conflict_groups == 0);
}

TEST_CASE("a record that changed on disk is damaged, and the others are counted") {
  const testing::TempDir temp;
  testing::write_view_records(
      temp / "a.rec", {{.key = "a", .payload = make_jpeg(50, 50, 1)}, {.key = "b", .payload = make_jpeg(50, 50, 2)}});
  testing::damage_record(temp / "a.rec", 1);
  const Collection collection = Collection::open({temp / "a.rec"}, {});
  const DatasetFacts facts = gather_facts(collection, {});
  CHECK(facts.records == 2);
  CHECK(facts.decoded == 1);
  REQUIRE(facts.findings.count(Suspicion::damaged) == 1);
  CHECK(facts.findings.kept(Suspicion::damaged)[0].record == 1);
  CHECK(facts.findings.kept(Suspicion::damaged)[0].reason.find("checksum") != std::string::npos);
}

TEST_CASE("gray images among gray images are nothing special, and selections and limits are kept") {
  const testing::TempDir temp;
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 6; ++i) {
    records.push_back({.key = fmt::format("{}", i), .payload = make_jpeg(50, 50, i, {.gray = true}), .label = i % 2});
  }
  testing::write_view_records(temp / "a.rec", records);
  const DatasetFacts all = gather_facts(Collection::open({temp / "a.rec"}, {}), {});
  CHECK(all.gray == 6);
  CHECK(all.findings.count(Suspicion::gray) == 0);
  const Collection dogs = Collection::open({temp / "a.rec"}, {.splits = {}, .classes = {"dog"}, .keys = {}});
  const DatasetFacts some = gather_facts(dogs, {});
  CHECK(some.records == 3);
  CHECK(some.small_class_count == 0);
  const DatasetFacts large = gather_facts(dogs, {.max_pixels = 100});
  CHECK(large.findings.count(Suspicion::not_decoded) == 3);
  CHECK(large.findings.count(Suspicion::damaged) == 0);
  FactsOptions cancelled;
  cancelled.progress = [](std::uint64_t, std::uint64_t) { return false; };
  CHECK(testing::error_of([&] { gather_facts(dogs, cancelled); }).message() == "cancelled");
}

}  // namespace imgpack::tools
