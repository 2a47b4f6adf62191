// Records of every kind as samples. Which pixels come out is checked against torchvision in
// augment_torchvision_test.py; here, that all kinds, formats and orders agree, and what damage does.
#include "reader/augment/sample_maker.h"

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "codec/decode_samples.h"
#include "codec/other/other_image.h"
#include "reader/augment/half.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

const std::vector<Augmentation> kLists[] = {
    {},
    {RandomResizedCrop{20}, HorizontalFlip{}},
    {RandomCrop{16, 2, true}, HorizontalFlip{}},
    {Resize{24}, CenterCrop{18}},
    {HorizontalFlip{}, Resize{24}, RandomCrop{10}, ColorJitter{0.4, 0.4, 0.4, 0.1}, Resize{.size = {9, 30}}},
};

struct Sample {
  ImageResult result;
  Size size;
  std::vector<std::byte> bytes;
};

Sample make(SampleMaker& maker, const Augmenter& augmenter, const RecordMeta& meta, const RecordBytes& bytes,
            std::uint64_t record = 0) {
  const auto planned = augmenter.plan(9, record, {meta.width, meta.height});
  REQUIRE(std::holds_alternative<SamplePlan>(planned));
  const auto& plan = std::get<SamplePlan>(planned);
  Sample sample{{}, plan.size(), std::vector<std::byte>(image_bytes(plan.size(), augmenter.format().dtype))};
  sample.result = maker.make(meta, bytes, plan, sample.bytes.data());
  return sample;
}

Sample make(const std::vector<Augmentation>& steps, DType dtype, Layout layout, const RecordSample& record) {
  const Augmenter augmenter(steps, dtype, layout);
  SampleMaker maker(augmenter.format(), &decode_other_image);
  return make(maker, augmenter, record.meta, record.bytes());
}

/// Value of channel c of pixel (x, y), in units of 1 / 255.
double value_at(const Sample& sample, DType dtype, Layout layout, std::size_t x, std::size_t y, std::size_t c) {
  const std::size_t width = sample.size.width;
  const std::size_t at = layout == Layout::nhwc ? (y * width + x) * 3 + c : (c * sample.size.height + y) * width + x;
  const std::byte* value = sample.bytes.data() + at * size_of(dtype);
  std::uint32_t bits = 0;
  std::memcpy(&bits, value, size_of(dtype));
  switch (dtype) {
    case DType::u8:
      return bits;
    case DType::f32:
      return static_cast<double>(std::bit_cast<float>(bits)) * 255;
    case DType::f16:
      return static_cast<double>(from_float16(static_cast<std::uint16_t>(bits))) * 255;
    default:
      return static_cast<double>(from_bfloat16(static_cast<std::uint16_t>(bits))) * 255;
  }
}

}  // namespace

TEST_CASE("all dtypes and layouts hold the same image, of every kind of record") {
  for (const RecordSample& record : record_samples()) {
    CAPTURE(record.name);
    for (const auto& steps : kLists) {
      const Sample plain = make(steps, DType::u8, Layout::nhwc, record);
      REQUIRE_MESSAGE(plain.result.ok(), plain.result.reason);
      for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
        const double tolerance = dtype == DType::bf16 ? 0.6 : dtype == DType::f16 ? 0.07 : 1e-4;
        for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
          const Sample sample = make(steps, dtype, layout, record);
          REQUIRE(sample.result.ok());
          REQUIRE(sample.size == plain.size);
          double difference = 0;
          for (std::size_t y = 0; y < sample.size.height; ++y) {
            for (std::size_t x = 0; x < sample.size.width; ++x) {
              for (std::size_t c = 0; c < 3; ++c) {
                difference = std::max(difference, std::abs(value_at(sample, dtype, layout, x, y, c) -
                                                           value_at(plain, DType::u8, Layout::nhwc, x, y, c)));
              }
            }
          }
          REQUIRE(difference <= tolerance);
        }
      }
    }
  }
}

TEST_CASE("a maker gives the same samples whatever it made before") {
  const std::vector<RecordSample> records = record_samples();
  for (const auto& steps : kLists) {
    const Augmenter augmenter(steps, DType::f32, Layout::nchw);
    SampleMaker kept(augmenter.format(), &decode_other_image);
    std::mt19937 random(4);
    for (int round = 0; round < 60; ++round) {
      const RecordSample& record = records[random() % records.size()];
      const std::uint64_t number = random() % 5;
      SampleMaker fresh(augmenter.format(), &decode_other_image);
      CHECK(make(kept, augmenter, record.meta, record.bytes(), number).bytes ==
            make(fresh, augmenter, record.meta, record.bytes(), number).bytes);
    }
  }
}

TEST_CASE("damage gives a status and a reason, never more") {
  std::mt19937 random(5);
  for (const RecordSample& record : record_samples()) {
    CAPTURE(record.name);
    for (const auto& steps : kLists) {
      const Augmenter augmenter(steps, DType::u8, Layout::nchw);
      SampleMaker maker(augmenter.format(), &decode_other_image);
      for (int round = 0; round < 12; ++round) {
        // As much memory as there are bytes, so that a sanitizer notices reading beyond them.
        std::vector<std::byte> payload = record.payload;
        std::vector<std::byte> segments = record.segments;
        if (round % 3 == 0) payload.resize(random() % payload.size());
        if (round % 3 == 1) payload[random() % payload.size()] ^= std::byte{0x41};
        if (round % 3 == 2 && !segments.empty()) segments[random() % segments.size()] ^= std::byte{0x41};
        const Sample sample = make(maker, augmenter, record.meta, {payload, segments}, random() % 3);
        CHECK(sample.result.ok() == sample.result.reason.empty());
        if (round % 3 == 0 && record.meta.codec == Codec::raw_rgb8) CHECK_FALSE(sample.result.ok());
      }
      const Sample whole = make(maker, augmenter, record.meta, record.bytes());
      CHECK(whole.result.ok());  // nothing is left of the damaged ones
    }
  }
}

TEST_CASE("a record of another size than its payload, too large, or of a type without a decoder") {
  for (RecordSample record : record_samples()) {
    CAPTURE(record.name);
    const Augmenter augmenter({CenterCrop{4}}, DType::u8, Layout::nhwc);
    SampleMaker strict(augmenter.format(), &decode_other_image,
                       std::uint64_t{record.meta.width} * record.meta.height - 1);
    CHECK(make(strict, augmenter, record.meta, record.bytes()).result.status == ImageStatus::too_large);
    if (decode_path(record.meta) == DecodePath::other) {
      SampleMaker without(augmenter.format(), nullptr);
      CHECK(make(without, augmenter, record.meta, record.bytes()).result.status == ImageStatus::unsupported);
    }
    record.meta.width += 1;
    SampleMaker maker(augmenter.format(), &decode_other_image);
    CHECK(make(maker, augmenter, record.meta, record.bytes()).result.status == ImageStatus::damaged);
  }
}
