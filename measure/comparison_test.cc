#include "measure/comparison.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "imgpack/build.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;

/// 24 images, as a folder and packed, beside the test program: that lies on a disk, temporary files may not.
class Images {
 public:
  Images()
      : folder_(fs::canonical("/proc/self/exe").parent_path() / ("comparison_test." + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    testing::make_image_folder(folder_ / "images", 3, 6);
    build(folder_ / "images", folder_ / "out.rec", {});
    subjects.push_back(open_subject((folder_ / "images").string()));
    subjects.push_back(open_subject((folder_ / "out.rec").string()));
  }
  ~Images() { fs::remove_all(folder_); }
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;

  const fs::path& folder() const { return folder_; }
  std::vector<std::unique_ptr<Subject>> subjects;

 private:
  fs::path folder_;
};

ComparisonOptions short_runs(std::vector<Measure> measures) {
  ComparisonOptions options;
  options.measures = std::move(measures);
  options.run.seconds = 0.01;
  options.run.batch_size = 5;
  options.run.threads = 2;
  options.run.transform = {RandomResizedCrop{16}, Normalize::imagenet()};
  options.rounds = 3;
  return options;
}

}  // namespace

TEST_CASE("rows are ordered by measure, then by subject") {
  const Images images;
  ComparisonOptions options = short_runs({Measure::random, Measure::gpu, Measure::open});
  std::size_t told = 0;
  options.progress = [&](Measure, const Subject&, std::size_t done, std::size_t total) {
    CHECK(done < total);
    CHECK(total == 24);
    ++told;
  };
  options.run.device = "cuda:999";
  const std::vector<Row> rows = compare(images.subjects, options);
  REQUIRE(rows.size() == 6);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].subject == i % 2);
    CHECK(rows[i].measure == options.measures[i / 2]);
  }
  for (const std::size_t i : {0UL, 1UL, 4UL, 5UL}) {
    CHECK(rows[i].measured());
    CHECK(rows[i].runs.size() == 3);
    CHECK(rows[i].rates().count == 3);
    CHECK(rows[i].rates().median > 0);
    CHECK(rows[i].byte_rates().median > 0);
    CHECK(rows[i].cpu_costs().median > 0);
    CHECK(rows[i].typical().run.rate() == rows[i].rates().median);
    CHECK_FALSE(rows[i].worst_eviction().has_value());
  }
  CHECK_FALSE(rows[2].measured());
  CHECK_FALSE(rows[2].reason.empty());
  CHECK_FALSE(rows[3].measured());
  REQUIRE(rows[3].failure.has_value());
  CHECK(rows[3].failure->code() == ErrorCode::unsupported);
  CHECK(told == 2 * 8 + 1);
}

TEST_CASE("cold runs begin with nothing in the page cache, and read each image once at most") {
  const Images images;
  if (images.subjects[0]->storage().kind == StorageKind::memory) {
    FAIL("the build folder lies in memory: this test needs one on a disk");
  }
  ComparisonOptions options = short_runs({Measure::seq, Measure::loader});
  options.run.seconds = 3600;
  options.cold = true;
  const std::vector<Row> rows = compare(images.subjects, options);
  REQUIRE(rows.size() == 4);
  for (const Row& row : rows) {
    CAPTURE(to_string(row.measure));
    CHECK(row.measured());
    REQUIRE(row.runs.size() == 3);
    for (const RowRun& run : row.runs) {
      CHECK(run.run.samples == 24);
      REQUIRE(run.eviction.has_value());
      CHECK(run.eviction->after.resident_bytes == 0);
      CHECK(run.eviction->after.total_bytes > 0);
      CHECK(run.eviction->complete());
      REQUIRE(run.resident_after.has_value());
      CHECK(run.resident_after->resident_bytes > 0);
    }
    REQUIRE(row.worst_eviction().has_value());
    CHECK(row.worst_eviction()->complete());
  }
}

TEST_CASE("a subject that breaks keeps what it had and leaves the others alone") {
  const Images images;
  testing::write_file(images.subjects[0]->files()[5], "no image");
  const std::vector<Row> rows = compare(images.subjects, short_runs({Measure::loader}));
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].failure.has_value());
  CHECK(rows[0].failure->code() == ErrorCode::damaged);
  CHECK_FALSE(rows[0].measured());
  CHECK(rows[1].measured());
}

TEST_CASE("who stops a comparison gets what there is") {
  const Images images;
  ComparisonOptions options = short_runs({Measure::seq, Measure::random});
  bool stop = false;
  options.run.stop = [&] { return stop; };
  options.progress = [&](Measure, const Subject&, std::size_t done, std::size_t) { stop = done == 4; };
  const std::vector<Row> rows = compare(images.subjects, options);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].runs.size() + rows[1].runs.size() == 3);
}

}  // namespace imgpack::measure
