#include "measure/examination.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "imgpack/build.h"
#include "imgpack/error.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;

ExaminationOptions short_examination(const fs::path& folder) {
  ExaminationOptions options;
  options.dataset = (folder / "a.rec").string();
  options.run.seconds = 0.02;
  options.run.batch_size = 4;
  options.run.threads = 1;
  options.run.transform = {RandomResizedCrop{32}, Normalize::imagenet()};
  options.rounds = 2;
  options.image_bytes = 32 * 32 * 3 * 4;
  options.folder = folder;
  options.variants = false;
  return options;
}

const StageFigure* find(const Examination& examination, Stage stage) {
  for (const StageFigure& figure : examination.stages) {
    if (figure.stage == stage) return &figure;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("examination: every stage has figures or a reason") {
  const testing::TempDir dir;
  testing::make_image_folder(dir / "images", 2, 6);
  const std::uint64_t records = build(dir / "images", dir / "a.rec", {}).records;
  const Examination found = examine(short_examination(dir.path()));
  CHECK(found.images == records);
  for (const Stage stage :
       {Stage::disk, Stage::memory, Stage::entropy, Stage::cpu, Stage::copy, Stage::gpu, Stage::consumer}) {
    const StageFigure* const figure = find(found, stage);
    REQUIRE(figure != nullptr);
    CHECK_MESSAGE(figure->measured() != !figure->reason.empty(), to_string(stage), ": ", figure->reason);
  }
  CHECK(find(found, Stage::memory)->rates.median > find(found, Stage::cpu)->rates.median);
  CHECK(find(found, Stage::memory)->bytes_per_image ==
        doctest::Approx(static_cast<double>(found.payload_bytes) / static_cast<double>(records)).epsilon(0.5));
  CHECK(found.together.count != 0);
  CHECK(found.sweep.size() >= 1);
  CHECK(found.threads_enough >= 1);
  CHECK(found.advice.diagnosis.bound == Stage::cpu);
  CHECK(found.variants.empty());
  CHECK(fs::exists(dir / "a.rec"));
}

TEST_CASE("examination: the bound is what was made slow") {
  const testing::TempDir dir;
  testing::make_image_folder(dir / "images", 2, 6);
  build(dir / "images", dir / "a.rec", {});
  ExaminationOptions options = short_examination(dir.path());
  options.run.step_seconds = 0.1;
  Examination found = examine(options);
  CHECK(found.advice.diagnosis.bound == Stage::consumer);
  CHECK(found.consumer_busy > 0.5);
  CHECK(found.together.median <= 4 / 0.1 * 1.01);

  options.run.step_seconds = 0;
  options.copy_bytes_per_second = 40.0 * static_cast<double>(options.image_bytes);
  found = examine(options);
  CHECK(found.advice.diagnosis.bound == Stage::copy);
  CHECK(found.advice.diagnosis.rate == doctest::Approx(40));
  CHECK(found.together.median <= 40 * 1.01);
}

TEST_CASE("examination: variants are made of the dataset's own images and removed again") {
  const testing::TempDir dir;
  testing::make_image_folder(dir / "images", 2, 6);
  build(dir / "images", dir / "a.rec", {});
  ExaminationOptions options = short_examination(dir.path());
  options.variants = true;
  const Examination found = examine(options);
  REQUIRE(found.variants.size() == 4);
  CHECK(found.variants.front().options.empty());
  CHECK(found.variants.front().rates.median > 0);
  CHECK(found.variants.back().bytes_per_image == doctest::Approx(256 * 256 * 3));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path())) ++entries;
  CHECK(entries == 2);
}

TEST_CASE("examination: what can't be examined is an error") {
  const testing::TempDir dir;
  ExaminationOptions options = short_examination(dir.path());
  CHECK_THROWS_AS(examine(options), Error);
  testing::make_image_folder(dir / "images", 1, 2);
  build(dir / "images", dir / "a.rec", {});
  options.run.device = "cuda:999";
  CHECK_THROWS_AS(examine(options), Error);
}

}  // namespace imgpack::measure
