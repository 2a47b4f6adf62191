// Which options of a transform go together, and how a dataset describes the one that made it.
#include "imgpack/transform.h"

#include <functional>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "imgpack/error.h"

namespace imgpack {
namespace {

using Description = std::map<std::string, std::string>;

/// What check() says, or nothing.
std::string complaint(const Transform& transform) {
  try {
    transform.check();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.message();
  }
  return {};
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("options that go together are accepted") {
  for (const Transform& transform : {
           Transform{},
           Transform{.jpeg = JpegHandling::baseline, .normalize = true, .index = false},
           Transform{.jpeg = JpegHandling::restart},
           Transform{.zstd_level = 22, .normalize = true},
           Transform{.encode = Encode::jpeg},
           Transform{.encode = Encode::jpeg,
           .jpeg = JpegHandling::restart,
           .resize = Transform::kMaxResize,
           .upscale = true,
           .quality = 1,
           .subsampling = Subsampling::s444,
           .index = false,
           .apply_exif_orientation = true},
           Transform{.encode = Encode::jpeg, .quality = 100},
           Transform{.encode = Encode::raw},
           Transform{.encode = Encode::raw, .index = false},
           Transform{.encode = Encode::raw,
           .resize = 1,
           .resize_mode = ResizeMode::exact,
           .zstd_level = 1,
           .apply_exif_orientation = true},
       }) {
    CHECK(complaint(transform) == "");
  }
}

TEST_CASE("options that contradict each other are refused, and the message names them") {
  const auto says = [](const Transform& transform, std::string_view part) {
    const std::string message = complaint(transform);
    CAPTURE(message);
    CHECK(contains(message, part));
  };
  says({.resize = 256}, "kept bytes can't be resized");
  says({.apply_exif_orientation = true}, "turned");
  says({.quality = 80}, "quality");
  says({.subsampling = Subsampling::s444}, "subsampling");
  says({.encode = Encode::raw, .quality = 80}, "quality");
  says({.encode = Encode::raw, .jpeg = JpegHandling::baseline}, "raw");
  says({.encode = Encode::raw, .normalize = true}, "normalizing");
  says({.encode = Encode::jpeg, .normalize = true}, "normalizing");
  says({.zstd_level = 3}, "zstd");
  says({.encode = Encode::jpeg, .zstd_level = 3}, "zstd");
  says({.encode = Encode::raw, .upscale = true}, "upscaling");

  says({.encode = Encode::raw, .resize = Transform::kMaxResize + 1}, "from 1 to 65500");
  for (const int quality : {-1, 0, 101}) says({.encode = Encode::jpeg, .quality = quality}, "from 1 to 100");
  for (const int level : {-5, 0, 23}) says({.encode = Encode::raw, .zstd_level = level}, "from 1 to 22");
}

TEST_CASE("a description has all that matters for the result, and nothing else") {
  CHECK(Transform{}.describe() == Description{{"encode", "keep"}});
  CHECK(Transform{.jpeg = JpegHandling::restart, .zstd_level = 7, .normalize = true, .index = false}.describe() ==
        Description{{"encode", "keep"}, {"jpeg", "restart"}, {"index", "no"}, {"normalize", "yes"}, {"zstd", "7"}});
  CHECK(Transform{.encode = Encode::jpeg}.describe() ==
        Description{{"encode", "jpeg"}, {"quality", "90 where needed"}, {"subsampling", "420 where needed"}});
  CHECK(Transform{.encode = Encode::jpeg,
                  .jpeg = JpegHandling::baseline,
                  .resize = 512,
                  .resize_mode = ResizeMode::longer,
                  .interpolation = Interpolation::lanczos,
                  .upscale = true,
                  .quality = 90,
                  .subsampling = Subsampling::s422,
                  .apply_exif_orientation = true}
            .describe() == Description{{"encode", "jpeg"},
                                       {"jpeg", "baseline"},
                                       {"resize", "512"},
                                       {"resize_mode", "longer"},
                                       {"interpolation", "lanczos"},
                                       {"upscale", "yes"},
                                       {"quality", "90"},
                                       {"subsampling", "422"},
                                       {"exif_orientation", "applied"}});
  // Without a size, how one would resize does not matter; of pixels, neither does whether JPEGs get an index.
  CHECK(Transform{.encode = Encode::raw,
                  .resize_mode = ResizeMode::exact,
                  .interpolation = Interpolation::nearest,
                  .index = false}
            .describe() == Description{{"encode", "raw"}});
}

TEST_CASE("pixels of one size are described as an array, compressed ones are not") {
  for (const ResizeMode mode : {ResizeMode::exact, ResizeMode::center_crop}) {
    Transform transform{.encode = Encode::raw, .resize = 256, .resize_mode = mode};
    CHECK(transform.fixed_side() == 256);
    CHECK(transform.describe()["raw_shape"] == "256x256");
    transform.zstd_level = 3;
    CHECK_FALSE(transform.describe().contains("raw_shape"));
    transform = {.encode = Encode::jpeg, .resize = 256, .resize_mode = mode};
    CHECK(transform.fixed_side() == 256);
    CHECK_FALSE(transform.describe().contains("raw_shape"));
  }
  for (const ResizeMode mode : {ResizeMode::shorter, ResizeMode::longer}) {
    const Transform transform{.encode = Encode::raw, .resize = 256, .resize_mode = mode};
    CHECK_FALSE(transform.fixed_side());
    CHECK_FALSE(transform.describe().contains("raw_shape"));
  }
  CHECK_FALSE(Transform{.encode = Encode::raw, .resize_mode = ResizeMode::exact}.fixed_side());
}

TEST_CASE("transforms with different results have different descriptions") {
  const Transform plain{.encode = Encode::jpeg, .resize = 64};
  const std::function<void(Transform&)> changes[] = {
      [](Transform& t) { t.encode = Encode::raw; },
      [](Transform& t) { t.jpeg = JpegHandling::restart; },
      [](Transform& t) { t.resize = 65; },
      [](Transform& t) { t.resize_mode = ResizeMode::longer; },
      [](Transform& t) { t.interpolation = Interpolation::box; },
      [](Transform& t) { t.upscale = true; },
      [](Transform& t) { t.quality = Transform::kDefaultQuality; },  // then kept files are encoded anew, too
      [](Transform& t) { t.subsampling = Transform::kDefaultSubsampling; },
      [](Transform& t) { t.index = false; },
      [](Transform& t) { t.apply_exif_orientation = true; },
  };
  for (const auto& change : changes) {
    Transform changed = plain;
    change(changed);
    CHECK(changed != plain);
    CHECK(changed.describe() != plain.describe());
  }
}

TEST_CASE("names are read back, others are not") {
  for (int i = 0; i < 6; ++i) {
    const auto value = static_cast<Interpolation>(i);
    CHECK(interpolation_from_name(to_string(value)) == value);
  }
  for (int i = 0; i < 4; ++i) {
    const auto value = static_cast<ResizeMode>(i);
    CHECK(resize_mode_from_name(to_string(value)) == value);
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(encode_from_name(to_string(static_cast<Encode>(i))) == static_cast<Encode>(i));
    CHECK(jpeg_handling_from_name(to_string(static_cast<JpegHandling>(i))) == static_cast<JpegHandling>(i));
    CHECK(subsampling_from_name(to_string(static_cast<Subsampling>(i))) == static_cast<Subsampling>(i));
  }
  CHECK_FALSE(encode_from_name("unknown"));
  CHECK_FALSE(resize_mode_from_name("center_crop"));
  CHECK_FALSE(interpolation_from_name(""));
  CHECK_FALSE(jpeg_handling_from_name("Keep"));
  CHECK_FALSE(subsampling_from_name("4:2:0"));
}

}  // namespace imgpack
