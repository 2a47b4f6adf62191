// JPEG on the device: the pixels of the host, bit for bit, and damage where the host sees it.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "codec/jpeg/jpeg_test_support.h"
#include "reader/augment/augmenter.h"
#include "tests/gpu/device_images.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

using namespace imgpack;
using namespace imgpack::testing;
using imgpack::jpeg::testing::Random;
using imgpack::jpeg::testing::random_crop;
using imgpack::jpeg::testing::random_options;

namespace {

constexpr PixelFormat kBytes{.dtype = DType::u8, .layout = Layout::nhwc, .normalize = {}};

/// How many of something a test takes: on a GPU, or in tests/cuda_on_host, where each takes longer.
constexpr int on_gpu_or_host(int on_gpu, int on_host) {
#if IMGPACK_CUDA_ON_HOST
  (void)on_gpu;
  return on_host;
#else
  (void)on_host;
  return on_gpu;
#endif
}

Size size_of_record(const TestRecord& record) {
  return {record.meta.width, record.meta.height};
}

struct Tally {
  std::size_t equal = 0;
  std::size_t by_host = 0;
};

Tally tally(const std::vector<ImageOutcome>& outcomes) {
  Tally counts;
  for (const ImageOutcome& outcome : outcomes) {
    counts.equal += outcome.equal ? 1 : 0;
    counts.by_host += outcome.by_host ? 1 : 0;
  }
  return counts;
}

/// All must be equal, and made by the device.
void check_all(const std::vector<ImageOutcome>& outcomes) {
  const Tally counts = tally(outcomes);
  CHECK(counts.equal == outcomes.size());
  CHECK(counts.by_host == 0);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].equal) continue;
    FAIL_CHECK("the first image that differs is number " << i << ", host ok " << outcomes[i].host_ok << ", device ok "
                                                         << outcomes[i].device_ok);
    break;
  }
}

/// Indexable files of the data that IMGPACK_TEST_DATA names, or every so many of them.
std::deque<TestRecord> sample_records(const std::string& folder, int every = 1) {
  std::deque<TestRecord> records;
  int number = 0;
  for (const std::filesystem::path& path : imgpack::jpeg::testing::files_below(external_data() / folder)) {
    if (number++ % every != 0) continue;
    try {
      records.push_back(jpeg_record(read_file(path)));
    } catch (const std::runtime_error&) {  // not indexable
    }
  }
  return records;
}

std::deque<TestRecord> random_records(Random& random, int count, std::uint32_t most) {
  std::deque<TestRecord> records;
  for (int i = 0; i < count; ++i) {
    const imgpack::testing::JpegOptions options = random_options(random);
    const auto width = static_cast<int>(1 + random() % most);
    const auto height = static_cast<int>(1 + random() % most);
    records.push_back(jpeg_record(make_jpeg(width, height, random(), options), random() % 4));
  }
  return records;
}

}  // namespace

TEST_CASE("crops of files of every kind") {
  Random random(1);
  const std::deque<TestRecord> records = random_records(random, on_gpu_or_host(600, 60), 120);
  std::vector<DeviceImages::Item> items;
  for (const TestRecord& record : records) {
    const Size size = size_of_record(record);
    items.push_back({&record, crop_plan({0, 0, size.width, size.height})});
    for (int i = 0; i < 8; ++i) items.push_back({&record, crop_plan(random_crop(random, size))});
  }
  DeviceImages images(kBytes, 128);
  check_all(images.make(items));
}

TEST_CASE("every subsampling, with and without restart markers") {
  Random random(2);
  std::deque<TestRecord> records;
  for (const auto& sampling : imgpack::jpeg::testing::all_samplings()) {
    for (int restart = 0; restart < 4; ++restart) {
      imgpack::testing::JpegOptions options;
      options.sampling = sampling;
      options.restart_interval = static_cast<std::uint32_t>(restart);
      records.push_back(jpeg_record(make_jpeg(67, 83, random(), options), random() % 5));
    }
  }
  std::vector<DeviceImages::Item> items;
  for (const TestRecord& record : records) {
    items.push_back({&record, crop_plan({0, 0, 67, 83})});
    for (int i = 0; i < on_gpu_or_host(20, 2); ++i)
      items.push_back({&record, crop_plan(random_crop(random, {67, 83}))});
  }
  DeviceImages images(kBytes, 96);
  check_all(images.make(items));
}

TEST_CASE("augmented: every interpolation, dtype and layout") {
  Random random(3);
  const std::deque<TestRecord> records = random_records(random, on_gpu_or_host(60, 6), 400);
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      CAPTURE(to_string(dtype));
      CAPTURE(to_string(layout));
      for (const Interpolation interpolation :
           {Interpolation::nearest, Interpolation::box, Interpolation::bilinear, Interpolation::hamming,
            Interpolation::bicubic, Interpolation::lanczos}) {
        std::vector<Augmentation> steps = {RandomResizedCrop{.size = {61, 64}, .interpolation = interpolation},
                                           HorizontalFlip{}};
        if (dtype != DType::u8) steps.emplace_back(Normalize::imagenet());
        const Augmenter augmenter(steps, dtype, layout);
        std::vector<DeviceImages::Item> items;
        for (std::size_t i = 0; i < records.size(); ++i) {
          for (int key = 0; key < on_gpu_or_host(3, 1); ++key) {
            auto plan = augmenter.plan(key, i, size_of_record(records[i]));
            items.push_back({&records[i], std::get<SamplePlan>(plan)});
          }
        }
        DeviceImages images(augmenter.format(), {61, 64});
        check_all(images.make(items));
      }
    }
  }
}

TEST_CASE("lists of steps: stages, padding, colors, erasing") {
  Random random(4);
  const std::deque<TestRecord> records = random_records(random, on_gpu_or_host(80, 8), 300);
  const std::vector<std::vector<Augmentation>> lists = {
      {Resize{.shorter = 72}, CenterCrop{64}},
      {Resize{.size = {300, 20}}, Resize{.size = {64, 64}, .interpolation = Interpolation::bicubic}},
      {RandomCrop{.size = 64, .padding = 7, .pad_if_needed = true, .fill = {1, 2, 3}}, HorizontalFlip{}},
      {RandomResizedCrop{64}, HorizontalFlip{}, ColorJitter{.4, .4, .4, .2}, Grayscale{.2}},
      {Resize{.shorter = 90}, ColorJitter{.4, .4, .4, .1}, RandomResizedCrop{64}, HorizontalFlip{}},
      {RandomResizedCrop{64}, RandomErasing{.probability = 1, .noise = true}, RandomErasing{.probability = 1}},
      {Resize{.shorter = 50}, CenterCrop{{64, 64}}, HorizontalFlip{}},
      {CenterCrop{64}},
  };
  for (const auto& steps : lists) {
    CAPTURE(to_string(steps.front()));
    for (const DType dtype : {DType::f32, DType::f16}) {
      const Augmenter augmenter(steps, dtype, Layout::nchw);
      std::vector<DeviceImages::Item> items;
      for (std::size_t i = 0; i < records.size(); ++i) {
        for (std::uint64_t key = 0; key < 2; ++key) {
          auto plan = augmenter.plan(key, i, size_of_record(records[i]));
          if (const SamplePlan* made = std::get_if<SamplePlan>(&plan)) items.push_back({&records[i], *made});
        }
      }
      DeviceImages images(augmenter.format(), 64);
      check_all(images.make(items));
    }
  }
}

TEST_CASE("predecoded records with stages") {
  Random random(5);
  std::deque<TestRecord> records;
  for (int i = 0; i < 60; ++i) {
    const std::uint32_t width = 1 + random() % 200;
    const std::uint32_t height = 1 + random() % 200;
    std::vector<std::byte> pixels(std::size_t{width} * height * 3);
    for (std::byte& byte : pixels) byte = static_cast<std::byte>(random());
    records.push_back(raw_record(width, height, std::move(pixels)));
  }
  const std::vector<std::vector<Augmentation>> lists = {
      {RandomResizedCrop{48}, HorizontalFlip{}, Normalize::imagenet()},
      {RandomCrop{.size = 48, .padding = 4, .pad_if_needed = true}, ColorJitter{.4, .4, .4, .2}},
      {CenterCrop{48}, HorizontalFlip{}},
  };
  for (const auto& steps : lists) {
    const Augmenter augmenter(steps, DType::f16, Layout::nhwc);
    std::vector<DeviceImages::Item> items;
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto plan = augmenter.plan(1, i, size_of_record(records[i]));
      items.push_back({&records[i], std::get<SamplePlan>(plan)});
    }
    DeviceImages images(augmenter.format(), 48);
    check_all(images.make(items));
  }
}

TEST_CASE("little memory: many waves, and images that do not fit are left to the host") {
  Random random(6);
  std::deque<TestRecord> records = random_records(random, on_gpu_or_host(200, 80), 300);
  records.push_back(jpeg_record(make_jpeg(3000, 2000, 1, {})));
  std::vector<DeviceImages::Item> items;
  for (const TestRecord& record : records) {
    const Size size = size_of_record(record);
    items.push_back({&record, crop_plan({0, 0, size.width, size.height})});
  }
  DeviceImages images(kBytes, {2000, 3000}, 1);
  const std::vector<ImageOutcome> outcomes = images.make(std::span(items));
  CHECK(tally(outcomes).equal == items.size());
  CHECK(tally(outcomes).by_host == 1);
  CHECK(outcomes.back().by_host);
}

TEST_CASE("damage: what the host finds the device finds, and what the device passes is right") {
  Random random(7);
  const std::deque<TestRecord> whole = random_records(random, 100, 150);
  std::deque<TestRecord> damaged;
  for (int i = 0; i < on_gpu_or_host(2000, 200); ++i) {
    TestRecord record = whole[random() % whole.size()];
    std::vector<std::byte>& bytes = i % 4 == 0 ? record.segments : record.payload;
    // Mostly in the entropy-coded data, or in the entries.
    const std::size_t from = i % 4 == 0 ? std::min<std::size_t>(60, bytes.size() - 1) : bytes.size() / 3;
    const std::uint32_t changes = 1 + random() % 6;
    for (std::uint32_t k = 0; k < changes; ++k) {
      std::byte& byte = bytes[from + random() % (bytes.size() - from)];
      byte = random() % 3 == 0 ? std::byte{0xff} : static_cast<std::byte>(random());
    }
    damaged.push_back(std::move(record));
  }
  std::vector<DeviceImages::Item> items;
  for (const TestRecord& record : damaged) {
    const Size size = size_of_record(record);
    items.push_back(
        {&record, crop_plan(random() % 2 == 0 ? Rect{0, 0, size.width, size.height} : random_crop(random, size))});
  }
  DeviceImages images(kBytes, 160);
  std::size_t found = 0;
  std::size_t missed = 0;
  std::size_t wrong = 0;
  std::size_t stricter = 0;
  for (const ImageOutcome& outcome : images.make(items)) {
    found += !outcome.host_ok && !outcome.device_ok ? 1 : 0;
    missed += !outcome.host_ok && outcome.device_ok ? 1 : 0;
    wrong += outcome.host_ok && outcome.device_ok && !outcome.equal ? 1 : 0;
    stricter += outcome.host_ok && !outcome.device_ok ? 1 : 0;
  }
  CHECK(found > on_gpu_or_host(500, 50));
  CHECK(missed == 0);
  CHECK(wrong == 0);
  CHECK(stricter <
        on_gpu_or_host(40, 4));  // crops whose index is wrong where nobody can see it: gathering less, the device may
  // And everything works afterwards: nothing of a damaged image is left in the memory of coefficients.
  std::vector<DeviceImages::Item> again;
  for (const TestRecord& record : whole) {
    const Size size = size_of_record(record);
    again.push_back({&record, crop_plan({0, 0, size.width, size.height})});
  }
  check_all(images.make(again));
}

TEST_CASE("the sample's files, whole and random crops" * doctest::skip(std::getenv("IMGPACK_TEST_DATA") == nullptr)) {
  Random random(8);
  std::deque<TestRecord> records = sample_records("imagenet-sample", on_gpu_or_host(1, 40));
  CHECK(records.size() > on_gpu_or_host(100, 5));
  std::vector<DeviceImages::Item> whole;
  std::uint32_t most = 0;
  for (const TestRecord& record : records) {
    const Size size = size_of_record(record);
    whole.push_back({&record, crop_plan({0, 0, size.width, size.height})});
    most = std::max({most, size.width, size.height});
  }
  for (std::size_t at = 0; at < whole.size(); at += 32) {  // whose places in a batch are as large as the largest
    DeviceImages images(kBytes, most, std::uint64_t{4} << 30);
    check_all(images.make(std::span(whole).subspan(at, std::min<std::size_t>(32, whole.size() - at))));
  }
  const Augmenter augmenter({RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}, DType::f16,
                            Layout::nchw);
  std::vector<DeviceImages::Item> crops;
  for (int i = 0; i < on_gpu_or_host(5000, 50); ++i) {
    const TestRecord& record = records[i % records.size()];
    auto plan = augmenter.plan(1, i, size_of_record(record));
    crops.push_back({&record, std::get<SamplePlan>(plan)});
  }
  DeviceImages images(augmenter.format(), 224);
  check_all(images.make(crops));
}

TEST_CASE("the odd files that have an index" * doctest::skip(std::getenv("IMGPACK_TEST_DATA") == nullptr)) {
  Random random(9);
  std::deque<TestRecord> records = sample_records("odd");
  CHECK(records.size() > 3);
  std::vector<DeviceImages::Item> items;
  std::uint32_t most = 0;
  for (const TestRecord& record : records) {
    const Size size = size_of_record(record);
    most = std::max({most, size.width, size.height});
    items.push_back({&record, crop_plan({0, 0, size.width, size.height})});
    for (int i = 0; i < on_gpu_or_host(20, 2); ++i) items.push_back({&record, crop_plan(random_crop(random, size))});
  }
  DeviceImages images(kBytes, most, std::uint64_t{4} << 30);
  check_all(images.make(items));
}
