#include "codec/other/other_image.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "codec/orientation.h"
#include "codec/other/image_samples.h"
#include "tests/support/damage.h"
#include "tests/support/images.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kMaxPixels = 1u << 12;

bool same_pixels(const RgbImage& a, const RgbImage& b) {
  return a.size() == b.size() && std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
}

RgbImage oriented(const RgbImage& image, int orientation) {
  RgbImage out;
  apply_orientation(image.view(), orientation, out);
  return out;
}

TEST_CASE("images of every type decode to their size, or their part is named as missing") {
  for (const testing::ImageSample& sample : testing::image_samples()) {
    CAPTURE(sample.name);
    RgbImage image;
    const ImageResult result = decode_other_image(sample.bytes, sample.codec, kMaxPixels, image);
    if (!other_image_available(sample.codec)) {
      CHECK(result.status == ImageStatus::unsupported);
      CHECK(result.reason.find("built without") != std::string::npos);
      continue;
    }
    CHECK_MESSAGE(result.ok(), result.reason);
    CHECK(image.size() == sample.size);
  }
  CHECK(other_image_available(Codec::png));
  CHECK(other_image_available(Codec::bmp));
  CHECK_FALSE(other_image_available(Codec::jpeg));
}

TEST_CASE("limits and wrong types are noticed before anything is decoded") {
  for (const testing::ImageSample& sample : testing::image_samples()) {
    if (!other_image_available(sample.codec)) continue;
    RgbImage image;
    const std::uint64_t pixels = std::uint64_t{sample.size.width} * sample.size.height;
    CHECK(decode_other_image(sample.bytes, sample.codec, pixels - 1, image).status == ImageStatus::too_large);
    const Codec other = sample.codec == Codec::png ? Codec::bmp : Codec::png;
    CHECK(decode_other_image(sample.bytes, other, kMaxPixels, image).status == ImageStatus::damaged);
    CHECK(decode_other_image(sample.bytes, Codec::jpeg, kMaxPixels, image).status == ImageStatus::unsupported);
    CHECK(image.size() == Size{});
  }
}

TEST_CASE("a file cut in half is damaged") {
  for (const testing::ImageSample& sample : testing::image_samples()) {
    if (!other_image_available(sample.codec)) continue;
    testing::for_each_cut(sample.bytes, 1, [&](std::span<const std::byte> cut) {
      RgbImage image;
      const ImageResult result = decode_other_image(cut, sample.codec, kMaxPixels, image);
      CHECK((result.ok() || !result.reason.empty()));
      if (cut.size() <= sample.bytes.size() / 2) CHECK_MESSAGE(!result.ok(), sample.name);
    });
  }
}

TEST_CASE("orientations undo each other") {
  RgbImage image;
  const auto file = testing::make_png(5, 3, 7);
  REQUIRE(decode_other_image(file, Codec::png, kMaxPixels, image).ok());
  CHECK(same_pixels(oriented(image, 1), image));
  for (const int orientation : {2, 3, 4, 5, 7}) {
    CAPTURE(orientation);
    CHECK_FALSE(same_pixels(oriented(image, orientation), image));
    CHECK(same_pixels(oriented(oriented(image, orientation), orientation), image));
  }
  CHECK(same_pixels(oriented(oriented(image, 6), 8), image));
  // 6: the picture lies on its left side, so that its lower left corner comes to the top.
  const RgbImage turned = oriented(image, 6);
  CHECK(turned.size() == Size{3, 5});
  CHECK(std::equal(turned.view().row(0), turned.view().row(0) + 3, image.view().row(2)));
  CHECK(same_pixels(oriented(oriented(image, 2), 3), oriented(image, 4)));
  CHECK(same_pixels(oriented(oriented(image, 2), 6), oriented(image, 7)));
  CHECK(same_pixels(oriented(oriented(image, 2), 8), oriented(image, 5)));
}

TEST_CASE("orientation is found, and anything else is upright") {
  for (const testing::ImageSample& sample : testing::image_samples()) {
    const int expected = sample.name == "interlaced png with a palette" ? 6 : 1;
    CHECK(exif_orientation(sample.bytes, sample.codec) == expected);
  }
  CHECK(exif_orientation({}, Codec::jpeg) == 1);
  CHECK(exif_orientation({}, Codec::png) == 1);
  CHECK(exif_orientation({}, Codec::webp) == 1);
}

}  // namespace

}  // namespace imgpack
