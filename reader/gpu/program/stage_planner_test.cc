// Planned stages against what the host computes: ResampleAxis for axes, SampleMaker for whole stages, which are carried
// out here as stage_task.h says.
#include "reader/gpu/program/stage_planner.h"

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "codec/resize/resample_axis.h"
#include "reader/augment/sample_maker.h"
#include "reader/gpu/program/work.h"

using namespace imgpack;
using namespace imgpack::gpu;

namespace {

constexpr Interpolation kAll[] = {Interpolation::nearest, Interpolation::box,     Interpolation::bilinear,
                                  Interpolation::hamming, Interpolation::bicubic, Interpolation::lanczos};

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  /// 1 to `most`.
  std::uint32_t up_to(std::uint32_t most) { return 1 + static_cast<std::uint32_t>(generator_()) % most; }
  bool one_in(std::uint32_t n) { return generator_() % n == 0; }
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(up_to(static_cast<std::uint32_t>(high - low + 1))) - 1;
  }

 private:
  std::mt19937 generator_;
};

struct Source {
  Size size;
  std::vector<std::uint8_t> pixels;
};

Source random_source(Random& random, std::uint32_t most) {
  Source source{{random.up_to(most), random.up_to(most)}, {}};
  source.pixels.resize(std::size_t{source.size.width} * source.size.height * 3);
  for (std::uint8_t& value : source.pixels) value = static_cast<std::uint8_t>(random.up_to(256) - 1);
  return source;
}

/// Anything a plan may ask for.
PlanStage random_stage(Random& random, Size source, std::uint32_t most) {
  PlanStage stage;
  stage.crop.x = random.up_to(source.width) - 1;
  stage.crop.y = random.up_to(source.height) - 1;
  stage.crop.width = random.up_to(source.width - stage.crop.x);
  stage.crop.height = random.up_to(source.height - stage.crop.y);
  stage.scaled = {stage.crop.width, stage.crop.height};
  if (!random.one_in(4)) stage.scaled.width = random.up_to(most);
  if (!random.one_in(4)) stage.scaled.height = random.up_to(most);
  stage.interpolation = kAll[random.up_to(std::size(kAll)) - 1];
  stage.canvas = {.size = stage.scaled, .fill = {9, 80, 200}};
  if (random.one_in(2)) {
    stage.canvas.size = {random.up_to(most), random.up_to(most)};
    const auto offset = [&random](std::uint32_t image, std::uint32_t canvas) {
      return random.between(-static_cast<std::int32_t>(canvas) - 2, static_cast<std::int32_t>(image) + 2);
    };
    stage.canvas.left = offset(stage.scaled.width, stage.canvas.size.width);
    stage.canvas.top = offset(stage.scaled.height, stage.canvas.size.height);
  }
  stage.flip = random.one_in(2);
  return stage;
}

/// The numbers of an axis, laid out as AxisTable says.
std::vector<std::uint32_t> numbers_of(const AxisTable& axis) {
  std::vector<std::uint32_t> numbers(axis.size());
  if (axis.request.kept == 0) return numbers;
  ResampleAxis computed;
  computed.compute(axis.request);
  for (std::uint32_t i = 0; i < axis.request.kept; ++i) {
    numbers[i] = computed.first[i];
    numbers[axis.request.kept + i] = computed.count[i];
    for (std::uint32_t t = 0; t < computed.count[i]; ++t) {
      const std::int32_t weight =
          computed.is_copy ? kWeightOne : computed.weights[std::size_t{i} * computed.stride + t];
      numbers.at(2 * std::size_t{axis.request.kept} + std::size_t{i} * axis.stride + t) =
          std::bit_cast<std::uint32_t>(weight);
    }
  }
  return numbers;
}

/// What kernels need of an axis and of the range of positions that it depends on.
void check_axis(const AxisTable& axis, std::uint32_t begin, std::uint32_t end) {
  if (axis.request.kept == 0) {
    CHECK(begin == end);
    return;
  }
  ResampleAxis computed;
  computed.compute(axis.request);
  std::uint32_t most = 1;
  std::uint32_t least_first = ~std::uint32_t{0};
  std::uint32_t last_end = 0;
  for (std::uint32_t i = 0; i < axis.request.kept; ++i) {
    most = std::max(most, computed.count[i]);
    if (computed.count[i] == 0) continue;
    least_first = std::min(least_first, computed.first[i]);
    last_end = std::max(last_end, computed.first[i] + computed.count[i]);
  }
  CHECK(axis.stride >= most);
  if (last_end == 0) {  // nearest that has left the source
    CHECK(begin == end);
    return;
  }
  CHECK(begin == least_first);
  CHECK(end == last_end);
  CHECK(end <= axis.request.source);
}

/// Wherever a tile begins, the windows of its columns lie within kTileColumns.
bool tiles_fit(const StageTask& task, const std::vector<std::uint32_t>& numbers) {
  const std::uint32_t kept = task.columns.request.kept;
  if (task.tile == 0) return task.columns.stride + 2 > kTileColumns;
  for (std::uint32_t from = 0; from < kept; ++from) {
    const std::uint32_t last = std::min(from + task.tile, kept) - 1;
    const std::uint32_t end = std::min(numbers[last] + numbers[kept + last], task.column_end);
    if (end > numbers[from] && end - numbers[from] > kTileColumns) return false;
  }
  return true;
}

std::uint8_t weigh(const AxisTable& axis, std::uint32_t i, const std::uint8_t* values, std::size_t step) {
  return resample_value(values + axis.first(i) * step, step, axis.weights(i), axis.count(i));
}

/// The two passes and the canvas, without the colors. Reads nothing of the source but source_part().
std::vector<std::uint8_t> carry_out(StageTask task, const Source& source) {
  std::vector<std::uint32_t> column_numbers = numbers_of(task.columns);
  std::vector<std::uint32_t> row_numbers = numbers_of(task.rows);
  task.columns.numbers = column_numbers.data();
  task.rows.numbers = row_numbers.data();
  CHECK(tiles_fit(task, column_numbers));
  const std::uint32_t kept = task.columns.request.kept;
  const Rect part = source_part(task);
  Source masked = source;
  for (std::uint32_t y = 0; y < source.size.height; ++y) {
    for (std::uint32_t x = 0; x < source.size.width; ++x) {
      const bool needed = x - part.x < part.width && y - part.y < part.height;
      if (!needed) std::fill_n(masked.pixels.begin() + (std::ptrdiff_t{y} * source.size.width + x) * 3, 3, 0x5a);
    }
  }
  std::vector<std::uint8_t> between(std::size_t{task.row_end - task.row_begin} * kept * 3);
  for (std::uint32_t y = task.row_begin; y < task.row_end; ++y) {
    const std::uint8_t* const row =
        masked.pixels.data() + (std::size_t{task.top + y} * source.size.width + task.left) * 3;
    for (std::uint32_t i = 0; i < kept * 3; ++i) {
      between[std::size_t{y - task.row_begin} * kept * 3 + i] = weigh(task.columns, i / 3, row + i % 3, 3);
    }
  }
  std::vector<std::uint8_t> canvas(std::size_t{task.width} * task.height * 3);
  for (std::size_t i = 0; i < canvas.size(); ++i) canvas[i] = task.fill[i % 3];
  for (std::uint32_t y = 0; y < task.rows.request.kept; ++y) {
    for (std::uint32_t i = 0; i < kept * 3; ++i) {
      const std::uint32_t x = task.place_left + i / 3;
      const std::size_t at = std::size_t{task.place_top + y} * task.width + (task.flip ? task.width - 1 - x : x);
      std::int32_t sum = kWeightHalf;
      for (std::uint32_t t = 0; t < task.rows.count(y); ++t) {
        const std::size_t from = std::size_t{task.rows.first(y) + t - task.row_begin} * kept * 3 + i;
        sum = add_weighted(sum, between.at(from), task.rows.weights(y)[t]);
      }
      canvas.at(at * 3 + i % 3) = finish_value(sum);
    }
  }
  return canvas;
}

std::vector<std::uint8_t> make_on_host(const PlanStage& stage, const Source& source) {
  SampleMaker maker({.dtype = DType::u8, .layout = Layout::nhwc}, nullptr);
  const RecordMeta meta{.width = source.size.width,
                        .height = source.size.height,
                        .channels = 3,
                        .codec = Codec::raw_rgb8,
                        .payload_size = source.pixels.size()};
  const Size size = stage.canvas.size;
  std::vector<std::uint8_t> made(std::size_t{size.width} * size.height * 3);
  const ImageResult result = maker.make(meta, {.payload = std::as_bytes(std::span(source.pixels)), .segments = {}},
                                        {.stages = {stage}, .erasings = {}}, reinterpret_cast<std::byte*>(made.data()));
  REQUIRE_MESSAGE(result.ok(), result.reason);
  return made;
}

void check_stage(const PlanStage& stage, const Source& source) {
  StageTask task;
  plan_stage(stage, task);
  check_axis(task.columns, task.column_begin, task.column_end);
  check_axis(task.rows, task.row_begin, task.row_end);
  const Rect part = source_part(task);
  if (part.width != 0 && part.height != 0) {
    CHECK(part.x >= stage.crop.x);
    CHECK(part.y >= stage.crop.y);
    CHECK(part.x + part.width <= stage.crop.x + stage.crop.width);
    CHECK(part.y + part.height <= stage.crop.y + stage.crop.height);
  }
  CHECK(task.place_left + task.columns.request.kept <= task.width);
  CHECK(task.place_top + task.rows.request.kept <= task.height);
  CHECK(carry_out(task, source) == make_on_host(stage, source));
}

}  // namespace

TEST_CASE("stage planner: stages of every kind make SampleMaker's pixels") {
  Random random(51);
  for (int i = 0; i < 1500; ++i) {
    CAPTURE(i);
    const Source source = random_source(random, 40);
    check_stage(random_stage(random, source.size, 40), source);
  }
}

TEST_CASE("stage planner: sources wider than a tile, and windows wider than one") {
  Random random(52);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    Source source = random_source(random, 3);
    source.size.width = random.up_to(4000);
    source.pixels.assign(std::size_t{source.size.width} * source.size.height * 3, 0);
    for (std::uint8_t& value : source.pixels) value = static_cast<std::uint8_t>(random.up_to(256) - 1);
    PlanStage stage = random_stage(random, source.size, 6);
    stage.scaled.width = random.one_in(3) ? random.up_to(4) : random.up_to(1500);
    stage.canvas = {.size = stage.scaled};
    check_stage(stage, source);
  }
  // One window of 3000 source columns.
  Source source{{3000, 2}, std::vector<std::uint8_t>(18'000, 77)};
  StageTask task;
  const PlanStage narrow{.crop = {0, 0, 3000, 2}, .scaled = {1, 2}, .canvas = {.size = {1, 2}}};
  plan_stage(narrow, task);
  CHECK(task.tile == 0);
  check_stage(narrow, source);
}

TEST_CASE("stage planner: a canvas that shows nothing needs nothing") {
  const PlanStage stage{
      .crop = {2, 3, 10, 10}, .scaled = {20, 20}, .canvas = {.left = 5, .top = 20, .size = {4, 4}, .fill = {1, 2, 3}}};
  StageTask task;
  plan_stage(stage, task);
  const Rect part = source_part(task);
  CHECK(part.width == 0);
  CHECK(part.height == 0);
  CHECK(task.columns.size() == 0);
  CHECK(task.rows.size() == 0);
  CHECK(task.pads);
}

TEST_CASE("stage planner: filters with sines are the host's, laid out as the device reads them") {
  for (const Interpolation interpolation : kAll) {
    const PlanStage stage{
        .crop = {0, 0, 90, 70}, .scaled = {31, 140}, .interpolation = interpolation, .canvas = {.size = {31, 140}}};
    StageTask task;
    plan_stage(stage, task);
    const bool sines = interpolation == Interpolation::hamming || interpolation == Interpolation::lanczos;
    for (const AxisTable* axis : {&task.columns, &task.rows}) {
      CHECK(needs_host(*axis) == sines);
      if (!sines) continue;
      std::vector<std::uint32_t> numbers(axis->size());
      compute_axis(*axis, numbers.data());
      CHECK(numbers == numbers_of(*axis));
    }
  }
  // Where nothing is resized, no filter is asked.
  StageTask task;
  plan_stage(
      {.crop = {0, 0, 9, 9}, .scaled = {9, 9}, .interpolation = Interpolation::lanczos, .canvas = {.size = {9, 9}}},
      task);
  CHECK(!needs_host(task.columns));
  CHECK(task.columns.stride == 1);
}
