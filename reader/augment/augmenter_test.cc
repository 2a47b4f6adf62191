// What lists are refused for, what sizes become, and into how few stages steps are put. That plans do to pixels what
// the steps say is checked against torchvision in augment_torchvision_test.py.
#include "reader/augment/augmenter.h"

#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "reader/augment/plan_builder.h"
#include "tests/support/thrown.h"

using namespace imgpack;

namespace {

using Steps = std::vector<Augmentation>;

/// The message of the refusal, or "".
std::string refusal(Steps steps, DType dtype = DType::f32) {
  try {
    check_augmentations(steps, dtype);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.message();
  }
  return "";
}

SamplePlan plan_of(const Steps& steps, Size source, std::uint64_t record = 0) {
  const auto planned = Augmenter(steps, DType::f32, Layout::nchw).plan(1, record, source);
  REQUIRE(std::holds_alternative<SamplePlan>(planned));
  return std::get<SamplePlan>(planned);
}

std::string reason_of(const Steps& steps, Size source) {
  const auto planned = Augmenter(steps, DType::f32, Layout::nchw).plan(1, 0, source);
  REQUIRE(std::holds_alternative<std::string>(planned));
  return std::get<std::string>(planned);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("lists that make sense are accepted") {
  CHECK(refusal({}) == "");
  CHECK(refusal({RandomResizedCrop{224}, HorizontalFlip{}, ColorJitter{0.4, 0.4, 0.4, 0.5}, Grayscale{0.2},
                 Normalize::imagenet(), RandomErasing{}, RandomErasing{.noise = true}, CutMix{}}) == "");
  CHECK(refusal({Grayscale{}, Resize{256}, HorizontalFlip{0}, CenterCrop{{1, 65500}}, MixUp{0.2, 0}}) == "");
  CHECK(refusal({RandomErasing{.value = {0, 255, 7}}}, DType::u8) == "");
  CHECK(refusal({RandomResizedCrop{.size = 8, .scale = {0.5, 3}}}) == "");
}

TEST_CASE("a refusal names the step, its place and what is wrong") {
  const std::string message = refusal({HorizontalFlip{}, Resize{0}});
  CHECK(message ==
        "step 2 of the transform, Resize(size=(0, 0), interpolation=bilinear): either the shorter side or "
        "the size has to be given");
}

TEST_CASE("values out of range are refused") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Augmentation wrong[] = {
      RandomResizedCrop{},
      RandomResizedCrop{{224, 0}},
      RandomResizedCrop{{224, 65501}},
      RandomResizedCrop{224, {0, 1}},
      RandomResizedCrop{224, {0.5, 0.4}},
      RandomResizedCrop{224, {0.5, kInfinity}},
      RandomResizedCrop{224, {kNan, 1}},
      RandomResizedCrop{224, {0.5, 1}, {-1, 1}},
      Resize{},
      Resize{8, {8, 8}},
      Resize{65501},
      Resize{0, {8, 0}},
      CenterCrop{},
      RandomCrop{},
      RandomCrop{8, 65501},
      HorizontalFlip{-0.1},
      HorizontalFlip{kNan},
      Grayscale{1.1},
      ColorJitter{-1},
      ColorJitter{0, kInfinity},
      ColorJitter{0, 0, kNan},
      ColorJitter{0, 0, 0, 0.51},
      Normalize{{0, 0, 0}, {1, 0, 1}},
      Normalize{{0, std::numeric_limits<float>::quiet_NaN(), 0}, {1, 1, 1}},
      RandomErasing{2},
      RandomErasing{1, {0.1, 1.1}},
      RandomErasing{1, {0, 0.5}},
      RandomErasing{1, {0.1, 0.2}, {3, 2}},
      MixUp{0},
      MixUp{1, -1},
      CutMix{kNan},
  };
  for (const Augmentation& step : wrong) {
    CAPTURE(to_string(step));
    const std::string message = refusal({step});
    CHECK(contains(message, "step 1 "));
    CHECK(contains(message, to_string(step)));
  }
}

TEST_CASE("what the dtype can't hold is refused") {
  CHECK(contains(refusal({Normalize::imagenet()}, DType::u8), "uint8"));
  CHECK(contains(refusal({RandomErasing{.noise = true}}, DType::u8), "uint8"));
  CHECK(contains(refusal({RandomErasing{.value = {0.5F, 0, 0}}}, DType::u8), "uint8"));
  CHECK(contains(refusal({RandomErasing{.value = {256, 0, 0}}}, DType::u8), "uint8"));
}

TEST_CASE("another order is refused") {
  const Normalize normalize = Normalize::imagenet();
  CHECK(contains(refusal({normalize, HorizontalFlip{}}), "step 2 "));
  CHECK(contains(refusal({RandomErasing{}, normalize}), "come first, then Normalize"));
  CHECK(contains(refusal({RandomErasing{}, Resize{8}}), "come first"));
  CHECK(contains(refusal({MixUp{}, RandomErasing{}}), "come first"));
  CHECK(contains(refusal({normalize, normalize}), "there is a Normalize before it"));
  CHECK(contains(refusal({MixUp{}, CutMix{}, MixUp{}}), "mixed once"));
  CHECK(refusal({MixUp{}, CutMix{}}) == "");
}

TEST_CASE("steps have readable names") {
  CHECK(to_string(RandomResizedCrop{224}) ==
        "RandomResizedCrop(size=(224, 224), scale=(0.08, 1), ratio=(0.75, 1.3333), interpolation=bilinear)");
  CHECK(to_string(Resize{256}) == "Resize(size=256, interpolation=bilinear)");
  CHECK(to_string(RandomCrop{{1, 2}, 4, true, {1, 2, 3}}) ==
        "RandomCrop(size=(1, 2), padding=4, pad_if_needed=true, fill=(1, 2, 3))");
  CHECK(to_string(RandomErasing{.noise = true}) ==
        "RandomErasing(probability=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=noise)");
}

TEST_CASE("sizes that steps fix, and those that depend on the image") {
  const auto fixed = [](Steps steps) { return Augmenter(std::move(steps), DType::f32, Layout::nchw).output_size(); };
  CHECK_FALSE(fixed({}).has_value());
  CHECK_FALSE(fixed({Resize{256}, HorizontalFlip{}}).has_value());
  CHECK(fixed({Resize{256}, CenterCrop{224}}) == ImageSize(224));
  CHECK(fixed({CenterCrop{{10, 20}}, Resize{5}}) == ImageSize(5, 10));
  CHECK(fixed({Resize{.size = {3, 4}}, Normalize::imagenet()}) == ImageSize(3, 4));
  CHECK(fixed({RandomCrop{8}, RandomResizedCrop{{7, 9}}}) == ImageSize(7, 9));

  const auto of = [](Steps steps, Size source) {
    return Augmenter(std::move(steps), DType::f32, Layout::nchw).output_size(source);
  };
  CHECK(of({}, {31, 17}) == ImageSize(17, 31));
  CHECK(of({Resize{256}}, {500, 375}) == ImageSize(256, 341));
  CHECK(of({Resize{256}}, {375, 500}) == ImageSize(341, 256));
  CHECK_FALSE(of({RandomCrop{32}}, {31, 40}).has_value());
  CHECK_FALSE(of({Resize{1000}}, {1, 1000}).has_value());
  CHECK_FALSE(of({}, {0, 5}).has_value());
}

TEST_CASE("images that a step can't be applied to are refused with a reason") {
  CHECK(contains(reason_of({RandomCrop{{40, 32}, 4}}, {30, 30}), "RandomCrop of 32x40 pixels from an image of 38x38"));
  CHECK(contains(reason_of({Resize{512}}, {1, 200}), "too narrow"));
  CHECK(contains(reason_of({Resize{.size = 8}}, {20'000'000, 1}), "no side may have more"));
  CHECK(contains(reason_of({}, {5, 0}), "no pixels"));
}

TEST_CASE("common lists take one stage, and nothing is decoded that they do not show") {
  const Size source = {500, 375};
  for (std::uint64_t record = 0; record < 50; ++record) {
    const SamplePlan train = plan_of({RandomResizedCrop{224}, HorizontalFlip{}, ColorJitter{1, 1, 1}}, source, record);
    REQUIRE(train.stages.size() == 1);
    CHECK(train.stages[0].scaled == Size{224, 224});
    CHECK(train.stages[0].canvas == Canvas{.size = {224, 224}});
    CHECK(train.stages[0].colors.size() == 3);

    const SamplePlan crop = plan_of({RandomCrop{32, 4}, HorizontalFlip{}}, {32, 32}, record);
    REQUIRE(crop.stages.size() == 1);
    CHECK_FALSE(crop.stages[0].resizes());
    CHECK(crop.stages[0].crop.width >= 28);
    CHECK(crop.stages[0].pads() == (crop.stages[0].crop.width < 32 || crop.stages[0].crop.height < 32));
  }
  const SamplePlan test = plan_of({Resize{256}, CenterCrop{224}}, source);
  REQUIRE(test.stages.size() == 1);
  CHECK(test.stages[0].crop == Rect{0, 0, 500, 375});
  CHECK(test.stages[0].scaled == Size{341, 256});
  CHECK(test.stages[0].canvas == Canvas{58, 16, {224, 224}});
  const SamplePlan middle = plan_of({CenterCrop{100}, CenterCrop{50}, HorizontalFlip{1}, CenterCrop{{10, 11}}}, source);
  REQUIRE(middle.stages.size() == 1);
  CHECK(middle.stages[0].crop == Rect{244, 183, 11, 10});
  CHECK(middle.stages[0].flip);
}

TEST_CASE("what can't be put together takes another stage") {
  CHECK(plan_of({Resize{100}, Resize{50}}, {200, 300}).stages.size() == 2);
  CHECK(plan_of({HorizontalFlip{1}, Resize{50}}, {200, 300}).stages.size() == 2);
  CHECK(plan_of({HorizontalFlip{0}, Resize{50}}, {200, 300}).stages.size() == 1);
  CHECK(plan_of({HorizontalFlip{1}, HorizontalFlip{1}}, {200, 300}).stages == plan_of({}, {200, 300}).stages);
  CHECK(plan_of({Grayscale{}, CenterCrop{50}}, {200, 300}).stages.size() == 2);
  CHECK(plan_of({CenterCrop{300}, Resize{50}}, {200, 300}).stages.size() == 2);
}

TEST_CASE("a window outside the image still names a pixel of it") {
  PlanBuilder builder({10, 10});
  builder.window({-50, 40, {20, 5}, {1, 2, 3}});
  const std::vector<PlanStage> stages = std::move(builder).take();
  REQUIRE(stages.size() == 1);
  CHECK(lies_in(stages[0].crop, {10, 10}));
  CHECK(stages[0].pads());
  CHECK(stages[0].canvas.size == Size{20, 5});
}

TEST_CASE("a plan depends on key, record, size and list alone") {
  const Steps steps = {RandomResizedCrop{32}, HorizontalFlip{}, ColorJitter{0.4, 0.4, 0.4, 0.1}, Grayscale{0.5},
                       RandomErasing{}};
  const Augmenter augmenter(steps, DType::f32, Layout::nchw);
  constexpr std::uint64_t kRecords = 200;
  const auto plan = [&](std::uint64_t key, std::uint64_t record) {
    return std::get<SamplePlan>(augmenter.plan(key, record, {60, 70}));
  };
  std::vector<SamplePlan> forwards(kRecords);
  for (std::uint64_t record = 0; record < kRecords; ++record) forwards[record] = plan(3, record);
  std::vector<SamplePlan> elsewhere(kRecords);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = kRecords; i-- > 0;) {
        if (i % 4 == t) elsewhere[i] = plan(3, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(forwards == elsewhere);
  CHECK(Augmenter(steps, DType::u8, Layout::nhwc).plan(3, 7, {60, 70}) == augmenter.plan(3, 7, {60, 70}));
  CHECK_FALSE(plan(3, 7) == plan(4, 7));
  CHECK_FALSE(plan(3, 7) == plan(3, 8));
}

TEST_CASE("another step in the list leaves the others alone, wherever it stands") {
  std::set<std::uint32_t> widths;
  for (std::uint64_t record = 0; record < 20; ++record) {
    const SamplePlan fewer = plan_of({RandomResizedCrop{32}, HorizontalFlip{}}, {60, 70}, record);
    const SamplePlan more =
        plan_of({Grayscale{0}, RandomResizedCrop{32}, ColorJitter{1}, HorizontalFlip{}}, {60, 70}, record);
    CHECK(fewer.stages[0].crop == more.stages[0].crop);
    CHECK(fewer.stages[0].flip == more.stages[0].flip);
    widths.insert(fewer.stages[0].crop.width);
    // Two of a kind are independent of each other.
    const SamplePlan twice = plan_of({RandomErasing{1}, RandomErasing{1}}, {60, 70}, record);
    if (twice.erasings.size() == 2) CHECK_FALSE(twice.erasings[0].rect == twice.erasings[1].rect);
  }
  CHECK(widths.size() > 5);
}
