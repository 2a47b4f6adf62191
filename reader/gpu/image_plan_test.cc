// Which path a record takes, and the memory that its image is given.
#include "reader/gpu/image_plan.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "codec/jpeg/jpeg_test_support.h"
#include "reader/augment/augmenter.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::jpeg::testing;
using namespace imgpack::testing;

namespace {

struct ImageRecord {
  RecordMeta meta;
  Bytes payload;
  Bytes segments;
  RecordBytes bytes() const { return {.payload = payload, .segments = segments}; }
};

ImageRecord raw_record(std::uint32_t width, std::uint32_t height) {
  ImageRecord record;
  record.payload.resize(std::size_t{width} * height * 3);
  record.meta = {.width = width, .height = height, .channels = 3, .codec = Codec::raw_rgb8};
  record.meta.payload_size = record.payload.size();
  return record;
}

ImageRecord jpeg_record(int width, int height, std::uint32_t seed, const JpegOptions& options = {}) {
  ImageRecord record;
  record.payload = make_jpeg(width, height, seed, options);
  record.segments = index_of(record.payload, {.segment_mcus = 1 + seed % 4});
  record.meta = {.width = static_cast<std::uint32_t>(width),
                 .height = static_cast<std::uint32_t>(height),
                 .channels = static_cast<std::uint8_t>(options.gray ? 1 : 3),
                 .codec = Codec::jpeg};
  record.meta.payload_size = record.payload.size();
  record.meta.segments_size = record.segments.size();
  return record;
}

SamplePlan plan_of(const std::vector<Augmentation>& steps, const ImageRecord& record, std::uint64_t number = 0) {
  const Augmenter augmenter(steps, DType::u8, Layout::nhwc);
  auto made = augmenter.plan(7, number, {record.meta.width, record.meta.height});
  REQUIRE(std::holds_alternative<SamplePlan>(made));
  return std::get<SamplePlan>(made);
}

ImagePath path_of(const ImageRecord& record, const SamplePlan& plan) {
  ImagePlan image;
  JpegTask task;
  plan_image(record.meta, record.bytes(), plan, image, task);
  return image.path;
}

/// A piece of scratch memory.
struct Piece {
  std::string name;
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};

Piece piece(std::string name, const void* begin, std::size_t bytes) {
  return {std::move(name), reinterpret_cast<std::uintptr_t>(begin), bytes};
}

/// While an image is made: segments are being decoded, or all of them are.
enum class Moment { decoding, resampling };

/// What kernels use of an image's general memory at that moment, or will find there later.
std::vector<Piece> pieces_of(const ImagePlan& image, const JpegTask& task, Moment moment) {
  std::vector<Piece> pieces;
  const bool decoding = image.path == ImagePath::jpeg && moment == Moment::decoding;
  if (decoding) {
    pieces.push_back(piece("infos", task.infos, task.segments() * sizeof(SegmentInfo)));
    // The last segment's stream may begin 2 x 16 bytes a segment after its place in the scan; 16 bytes are read ahead.
    pieces.push_back(
        piece("streams", task.streams, task.scan_end - task.scan_begin + std::size_t{task.segments()} * 32 + 16));
  }
  if (image.path == ImagePath::jpeg) {
    for (std::uint32_t c = 0; c < task.index.frame.component_count; ++c) {
      const std::size_t rows = std::size_t{task.rows()} * task.index.frame.components[c].v * jpeg::kBlockSize;
      pieces.push_back(piece("plane", task.planes[c].samples, rows * task.planes[c].stride));
    }
  }
  for (const StageTask& stage : image.stages) {
    pieces.push_back(piece("columns", stage.columns.numbers, stage.columns.size() * sizeof(std::uint32_t)));
    pieces.push_back(piece("rows", stage.rows.numbers, stage.rows.size() * sizeof(std::uint32_t)));
    if (!decoding) {
      pieces.push_back(piece("between", stage.between,
                             std::size_t{stage.row_end - stage.row_begin} * stage.columns.request.kept * 4));
    }
    if (stage.canvas == nullptr) continue;
    pieces.push_back(piece("canvas", stage.canvas, std::size_t{stage.width} * stage.height * 3));
  }
  std::erase_if(pieces, [](const Piece& p) { return p.bytes == 0; });
  return pieces;
}

void check_apart(std::vector<Piece> pieces, std::uintptr_t begin, std::size_t bytes) {
  std::ranges::sort(pieces, {}, &Piece::begin);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CAPTURE(pieces[i].name);
    CHECK(pieces[i].begin >= begin);
    CHECK(pieces[i].begin + pieces[i].bytes <= begin + bytes);
    if (i != 0) CHECK_MESSAGE(pieces[i - 1].begin + pieces[i - 1].bytes <= pieces[i].begin, pieces[i - 1].name);
  }
}

const std::vector<Augmentation> kLists[] = {
    {},
    {RandomResizedCrop{24}, HorizontalFlip{}},
    {RandomCrop{16, 2, true}},
    {Resize{24}, CenterCrop{18}, ColorJitter{0.4, 0.4, 0.4, 0.1}},
    {Resize{40}, RandomCrop{30}, ColorJitter{0.4, 0.4, 0.4, 0.1}, Resize{.size = {9, 30}}, HorizontalFlip{}},
};

}  // namespace

TEST_CASE("image plan: the path of each kind of record") {
  const ImageRecord raw = raw_record(40, 30);
  CHECK(path_of(raw, plan_of({}, raw)) == ImagePath::copied);
  CHECK(path_of(raw, plan_of({RandomCrop{16}, HorizontalFlip{1}}, raw)) == ImagePath::copied);
  CHECK(path_of(raw, plan_of({Resize{20}}, raw)) == ImagePath::pixels);
  CHECK(path_of(raw, plan_of({Grayscale{}}, raw)) == ImagePath::pixels);
  ImageRecord cut = raw;
  cut.payload.pop_back();
  CHECK(path_of(cut, plan_of({}, cut)) == ImagePath::host);

  const ImageRecord jpeg = jpeg_record(60, 50, 1);
  CHECK(path_of(jpeg, plan_of({}, jpeg)) == ImagePath::jpeg);
  CHECK(path_of(jpeg, plan_of({RandomResizedCrop{24}}, jpeg)) == ImagePath::jpeg);
  ImageRecord without = jpeg;
  without.segments.clear();
  without.meta.segments_size = 0;
  CHECK(path_of(without, plan_of({}, without)) == ImagePath::host);

  ImageRecord png = raw_record(8, 8);
  png.payload = make_png(8, 8, 1);
  png.meta.codec = Codec::png;
  png.meta.payload_size = png.payload.size();
  CHECK(path_of(png, plan_of({}, png)) == ImagePath::host);

  SamplePlan nothing_shown = plan_of({}, jpeg);
  nothing_shown.stages.front().canvas.left = 1000;
  CHECK(path_of(jpeg, nothing_shown) == ImagePath::host);
}

TEST_CASE("image plan: what is left to the host has nothing for the device") {
  ImageRecord jpeg = jpeg_record(60, 50, 1);
  jpeg.segments.resize(jpeg.segments.size() / 2);
  SamplePlan plan = plan_of({RandomResizedCrop{24}, RandomErasing{.probability = 1}}, jpeg);
  ImagePlan image;
  JpegTask task;
  plan_image(jpeg.meta, jpeg.bytes(), plan, image, task);
  CHECK(image.path == ImagePath::host);
  CHECK(image.stages.empty());
  CHECK(image.erasings.empty());  // the host erases what it makes
}

TEST_CASE("image plan: of pixels, just the rows that are needed are gathered") {
  const ImageRecord raw = raw_record(40, 100);
  const SamplePlan plan{
      .stages = {{.crop = {3, 20, 30, 40}, .scaled = {15, 20}, .canvas = {.left = 0, .top = 5, .size = {15, 5}}}},
      .erasings = {}};
  ImagePlan image;
  JpegTask task;
  plan_image(raw.meta, raw.bytes(), plan, image, task);
  REQUIRE(image.path == ImagePath::pixels);
  // Rows 5 to 9 of 20 are of rows 10 to 19 of 40, and one on each side by the filter's width.
  CHECK(image.pixel_row == 29);
  CHECK(image.pixels.data() == raw.payload.data() + 29 * 120);
  CHECK(image.pixels.size() == 12 * 120);
}

TEST_CASE("image plan: of an image that is only cut out, from the first pixel to the last") {
  const ImageRecord raw = raw_record(40, 100);
  const SamplePlan plan{.stages = {{.crop = {3, 20, 30, 40}, .scaled = {30, 40}, .canvas = {.size = {30, 40}}}},
                        .erasings = {}};
  ImagePlan image;
  JpegTask task;
  plan_image(raw.meta, raw.bytes(), plan, image, task);
  REQUIRE(image.path == ImagePath::copied);
  CHECK(image.raw.source_stride == 120);
  CHECK(image.raw.crop == Size{30, 40});
  CHECK(image.pixels.data() == raw.payload.data() + 20 * 120 + 9);
  CHECK(image.pixels.size() == 39 * 120 + 90);
}

TEST_CASE("image plan: a record's bytes are used where they are when the image is placed") {
  const ImageRecord jpeg = jpeg_record(60, 50, 1);
  ImagePlan image;
  JpegTask task;
  plan_image(jpeg.meta, jpeg.bytes(), plan_of({RandomResizedCrop{24}}, jpeg), image, task);
  REQUIRE(image.path == ImagePath::jpeg);
  const std::vector<std::byte> device(image.entries.size() + image.scan.size());
  image.entries = std::span(device).first(image.entries.size());
  image.scan = std::span(device).subspan(image.entries.size());
  std::vector<std::byte> memory(image.scratch.general + 256);
  std::vector<std::byte> coefficients(image.scratch.coefficients + 256);
  Carver general(memory.data());
  Carver zeros(coefficients.data());
  place_image(image, task, 0, {general, zeros}, nullptr);
  CHECK(reinterpret_cast<const std::byte*>(task.index.entries) == image.entries.data());
  CHECK(reinterpret_cast<const std::byte*>(task.scan) + task.scan_begin == image.scan.data());
  CHECK(general.used() == image.scratch.general);
}

TEST_CASE("image plan: pieces of memory do not overlap, and are as large as counted") {
  Random random(61);
  std::vector<ImageRecord> records;
  for (int i = 0; i < 60; ++i) {
    const auto width = static_cast<int>(1 + random() % 100);
    const auto height = static_cast<int>(1 + random() % 100);
    if (i % 3 == 0) {
      records.push_back(raw_record(static_cast<std::uint32_t>(width + 16), static_cast<std::uint32_t>(height + 16)));
    } else {
      records.push_back(jpeg_record(width + 16, height + 16, random(), random_options(random)));
    }
  }
  for (const std::vector<Augmentation>& steps : kLists) {
    std::vector<ImagePlan> images(records.size());
    std::vector<JpegTask> tasks(records.size());
    ScratchBytes needed;
    for (std::size_t i = 0; i < records.size(); ++i) {
      plan_image(records[i].meta, records[i].bytes(), plan_of(steps, records[i], i), images[i], tasks[i]);
      if (images[i].stages.empty()) continue;
      const ScratchBytes bytes = images[i].scratch;
      needed.general += bytes.general;
      needed.coefficients += bytes.coefficients;
    }
    // Addresses only: nothing is written. Alignment is that of device memory.
    std::byte* const general_memory = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 30);
    std::byte* const coefficient_memory = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
    std::byte* const batch = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 44);
    Carver general(general_memory);
    Carver coefficients(coefficient_memory);
    std::vector<Piece> while_decoding;
    std::vector<Piece> while_resampling;
    std::vector<Piece> all_coefficients;
    for (std::size_t i = 0; i < records.size(); ++i) {
      ImagePlan& image = images[i];
      if (image.stages.empty()) continue;
      place_image(image, tasks[i], static_cast<std::uint32_t>(i), {general, coefficients}, batch + i * 100'000);
      std::ranges::copy(pieces_of(image, tasks[i], Moment::decoding), std::back_inserter(while_decoding));
      std::ranges::copy(pieces_of(image, tasks[i], Moment::resampling), std::back_inserter(while_resampling));
      if (image.path == ImagePath::jpeg) {
        CHECK(image.stages.front().jpeg == i);
        CHECK(static_cast<const void*>(image.stages.front().between) == tasks[i].streams);  // one piece for both
        all_coefficients.push_back(
            piece("coefficients", tasks[i].coefficients, std::size_t{tasks[i].blocks()} * 64 * sizeof(std::int16_t)));
      } else {
        CHECK(image.stages.front().jpeg == kNoTask);
      }
      for (std::size_t s = 0; s < image.stages.size(); ++s) {
        const bool last = s + 1 == image.stages.size();
        CHECK(image.stages[s].out == (last ? batch + i * 100'000 : nullptr));
        CHECK((image.stages[s].canvas != nullptr) == (!last || image.has_colors(s)));
        if (!last) CHECK(image.stages[s + 1].rgb == image.stages[s].canvas);
      }
    }
    CHECK(general.used() == needed.general);
    CHECK(coefficients.used() == needed.coefficients);
    check_apart(while_decoding, reinterpret_cast<std::uintptr_t>(general_memory), needed.general);
    check_apart(while_resampling, reinterpret_cast<std::uintptr_t>(general_memory), needed.general);
    check_apart(all_coefficients, reinterpret_cast<std::uintptr_t>(coefficient_memory), needed.coefficients);
  }
}
