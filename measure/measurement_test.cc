#include "measure/measurement.h"

#include <atomic>

#include <doctest/doctest.h>

#include "imgpack/build.h"
#include "measure/subject.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;
using testing::TempDir;

constexpr Measure kMeasures[] = {Measure::open,   Measure::seq, Measure::random, Measure::decode,
                                 Measure::loader, Measure::gpu, Measure::train};

/// 24 images, as a folder and packed.
class Images {
 public:
  Images() {
    testing::make_image_folder(path(), 3, 6);
    build(path(), folder_.path() / "out.rec", {});
    folder_subject = open_subject(path().string());
    packed_subject = open_subject((folder_.path() / "out.rec").string());
    for (const fs::path& file : folder_subject->files()) bytes += fs::file_size(file);
  }
  fs::path path() const { return folder_.path() / "images"; }

  std::unique_ptr<Subject> folder_subject;
  std::unique_ptr<Subject> packed_subject;
  std::uint64_t bytes = 0;

 private:
  TempDir folder_;
};

/// Ends after each image was read once: no test waits for a time to pass.
MeasureOptions one_pass() {
  MeasureOptions options;
  options.seconds = 3600;
  options.single_pass = true;
  options.batch_size = 5;
  options.threads = 2;
  options.transform = {RandomResizedCrop{16}, HorizontalFlip{}, Normalize::imagenet()};
  return options;
}

MeasureRun run(Measure measure, const Subject& subject, const MeasureOptions& options) {
  return measurement_of(measure)({.subject = subject, .options = options, .seed = 1});
}

}  // namespace

TEST_CASE("measures have names") {
  for (const Measure measure : kMeasures) CHECK(measure_from_name(to_string(measure)) == measure);
  CHECK_FALSE(measure_from_name("speed").has_value());
  CHECK(unit_of(Measure::open) == "opens/s");
  CHECK(unit_of(Measure::train) == "images/s");
}

TEST_CASE("a single pass reads every image once, whatever the subject") {
  const Images images;
  for (const Subject* subject : {images.folder_subject.get(), images.packed_subject.get()}) {
    CAPTURE(subject->kind());
    for (const Measure measure : {Measure::seq, Measure::random, Measure::decode, Measure::loader, Measure::train}) {
      CAPTURE(to_string(measure));
      const MeasureRun result = run(measure, *subject, one_pass());
      CHECK(result.samples == 24);
      // A loader of a packed dataset reads segment indexes besides.
      CHECK(result.bytes >= images.bytes);
      CHECK((is_loading(measure) || result.bytes == images.bytes));
      CHECK(result.steps == (is_loading(measure) ? 5 : 0));
      CHECK(result.seconds > 0);
      CHECK(result.rate() > 0);
      CHECK(result.cpu_seconds > 0);
    }
    const MeasureRun opened = run(Measure::open, *subject, one_pass());
    CHECK(opened.samples == 1);
    CHECK(opened.bytes == subject->read_first());
  }
}

TEST_CASE("without a single pass, passes follow each other until somebody stops them") {
  const Images images;
  for (const Subject* subject : {images.folder_subject.get(), images.packed_subject.get()}) {
    for (const Measure measure : kMeasures) {
      if (measure == Measure::gpu) continue;
      CAPTURE(to_string(measure));
      MeasureOptions options = one_pass();
      options.single_pass = false;
      int asked = 0;
      options.stop = [&asked] { return ++asked > 60; };
      CHECK(run(measure, *subject, options).samples > 24);
      CHECK(asked <= 63);
    }
  }
}

TEST_CASE("the time ends a run") {
  const Images images;
  MeasureOptions options = one_pass();
  options.single_pass = false;
  options.seconds = 0;
  for (const Measure measure : {Measure::seq, Measure::random, Measure::decode, Measure::loader}) {
    CHECK(run(measure, *images.packed_subject, options).samples == 0);
  }
  CHECK(run(Measure::open, *images.packed_subject, options).samples == 1);
}

TEST_CASE("the consumer of train works as long as it is told") {
  const Images images;
  MeasureOptions options = one_pass();
  options.step_seconds = 0.002;
  const MeasureRun train = run(Measure::train, *images.packed_subject, options);
  CHECK(train.steps == 5);
  CHECK(train.work_seconds >= 5 * options.step_seconds);
  CHECK(train.work_seconds <= train.seconds);
  CHECK(run(Measure::loader, *images.packed_subject, options).work_seconds == 0);
}

TEST_CASE("a consumer that works for long can be stopped") {
  const Images images;
  MeasureOptions options = one_pass();
  options.step_seconds = 3600;
  int asked = 0;
  options.stop = [&asked] { return ++asked > 2; };
  const MeasureRun train = run(Measure::train, *images.packed_subject, options);
  CHECK(train.steps == 1);
  CHECK(train.work_seconds > 0);
}

TEST_CASE("what has no meaning says why") {
  const Images images;
  const MeasureOptions options = one_pass();
  for (const Measure measure : kMeasures) {
    CHECK_FALSE(not_applicable(measure, *images.packed_subject, options).has_value());
    CHECK(not_applicable(measure, *images.folder_subject, options).has_value() == (measure == Measure::gpu));
  }
  MeasureOptions cuda = options;
  cuda.device = "cuda:1";
  CHECK(not_applicable(Measure::train, *images.folder_subject, cuda).has_value());
  CHECK_FALSE(not_applicable(Measure::loader, *images.folder_subject, cuda).has_value());
  CHECK(device_of(Measure::train, cuda) == "cuda:1");
  CHECK(device_of(Measure::gpu, cuda) == "cuda:1");
  CHECK(device_of(Measure::gpu, options) == "cuda");
  CHECK(device_of(Measure::loader, cuda) == "cpu");
}

TEST_CASE("a device that is not there is unsupported") {
  const Images images;
  MeasureOptions options = one_pass();
  options.device = "cuda:999";
  try {
    run(Measure::gpu, *images.packed_subject, options);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
  }
}

TEST_CASE("damage is an error that names the file") {
  const Images images;
  const fs::path victim = images.folder_subject->files()[3];
  testing::write_file(victim, "no image");
  for (const Measure measure : {Measure::decode, Measure::loader}) {
    try {
      run(measure, *images.folder_subject, one_pass());
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::damaged);
      CHECK(error.place().file == victim.native());
    }
  }
  CHECK(run(Measure::seq, *images.folder_subject, one_pass()).samples == 24);
}

}  // namespace imgpack::measure
