// Every variant of a dataset, in every format: its records are what the codecs give when they are called by hand.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/jpeg/segment_index.h"
#include "codec/other/other_image.h"
#include "formats/backend.h"
#include "imgpack/build.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "imgpack/verify.h"
#include "mmap/paths.h"
#include "packer/variants_testing.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;

/// The folder is made once: no test changes it.
const fs::path& mixed_folder() {
  static const TempDir dir;
  static const fs::path folder = [] {
    make_mixed_folder(dir / "images");
    return dir / "images";
  }();
  return folder;
}

std::vector<Format> formats() {
  std::vector<Format> all;
  for (const FormatEntry& entry : format_entries()) all.push_back(entry.format);
  return all;
}

fs::path output(const TempDir& dir, std::string_view name, Format format) {
  return dir / fmt::format("{}.{}", name, to_string(format));
}

std::vector<std::string> keys_below(const fs::path& folder) {
  std::vector<std::string> keys;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) keys.push_back(entry.path().lexically_relative(folder).string());
  }
  std::ranges::sort(keys);
  return keys;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

void check_record(const StoreReader& store, std::uint64_t record, const std::vector<std::byte>& file,
                  const VariantRecord& expected) {
  const RecordMeta meta = store.meta(record);
  const RecordBytes bytes = store.bytes(record);
  CHECK(meta.codec == expected.codec);
  CHECK(meta.channels == expected.channels);
  CHECK(Size{meta.width, meta.height} == expected.pixels.size());
  CHECK(meta.payload_size == bytes.payload.size());
  CHECK(meta.segments_size == bytes.segments.size());
  CHECK(meta.checksum == record_checksum(bytes.payload, bytes.segments));
  CHECK(bytes.segments.empty() == !expected.indexed);
  CHECK(same_bytes(bytes.payload, file) == expected.same_bytes);
  ImageDecoder decoder(&decode_other_image);
  RgbImage image;
  CHECK(decoder.decode(meta, bytes, image).reason == "");
  CHECK(same_bytes(image.bytes(), expected.pixels.bytes()));
}

/// Everything about one packed variant; `report` is its build's.
void check_variant(const fs::path& path, const BuildReport& report, const Transform& transform) {
  const auto store = open_store(path);
  CHECK(store->info().transform == transform.describe());
  std::uint64_t record = 0;
  std::size_t left_out = 0;
  for (const std::string& key : keys_below(mixed_folder())) {
    CAPTURE(key);
    const std::vector<std::byte> file = read_file(mixed_folder() / key);
    const std::optional<VariantRecord> expected = make_by_hand(file, transform);
    if (!expected) {
      REQUIRE(left_out < report.left_out.size());
      CHECK(report.left_out[left_out].key == key);
      CHECK(contains(report.left_out[left_out++].reason, "--upscale"));
      continue;
    }
    REQUIRE(record < store->size());
    CHECK(store->key(record) == key);
    check_record(*store, record++, file, *expected);
  }
  CHECK(record == store->size());
  CHECK(report.records == record);
  CHECK(report.refused_count == left_out);
  CHECK(report.decode_paths.all() == record);
}

std::vector<std::byte> all_bytes(const fs::path& path) {
  // LMDB's and TFRecord's companions count, too.
  std::vector<std::byte> bytes;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    if (entry.path().filename().string().starts_with(path.filename().string())) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const std::vector<std::byte> content = read_file(file);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  return bytes;
}

BuildOptions options_for(const Transform& transform, Format format = Format::rec) {
  return {.format = format, .on_error = OnError::skip, .transform = transform};
}

}  // namespace

TEST_CASE("every variant, in every format, has the records that the codecs give by hand") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    std::uint64_t digest = 0;
    for (const Format format : formats()) {
      CAPTURE(to_string(format));
      const TempDir dir;
      const fs::path path = output(dir, "out", format);
      const BuildReport report = build(mixed_folder(), path, options_for(variant.transform, format));
      check_variant(path, report, variant.transform);
      CHECK(verify(path, {}).damage_count == 0);
      CHECK(verify_pixels(*open_store(path), {}).damage_count == 0);
      if (digest == 0) digest = open_store(path)->info().content_digest;
      CHECK(open_store(path)->info().content_digest == digest);
    }
  }
}

TEST_CASE("a library build without a transform keeps bytes and adds indexes") {
  const TempDir dir;
  build(mixed_folder(), dir / "default.rec", {});
  build(mixed_folder(), dir / "keep.rec", {.transform = Transform{}});
  CHECK(read_file(dir / "default.rec") == read_file(dir / "keep.rec"));
}

TEST_CASE("the ways of decoding are counted") {
  const TempDir dir;
  const DecodePaths kept = build(mixed_folder(), dir / "keep.rec", {}).decode_paths;
  CHECK(kept.indexed_jpeg == 13);
  CHECK(kept.whole_jpeg == 3);  // progressive and CMYK
  CHECK(kept.other == 13);
  CHECK(kept.on_cpu() == 16);
  const DecodePaths normal =
      build(mixed_folder(), dir / "normal.rec", {.transform = Transform{.normalize = true}}).decode_paths;
  CHECK(normal.indexed_jpeg == 13);
  CHECK(normal.raw == 16);
  CHECK(normal.on_cpu() == 0);
  const DecodePaths zstd =
      build(mixed_folder(), dir / "zstd.rec", {.transform = Transform{.encode = Encode::raw, .zstd_level = 1}})
          .decode_paths;
  CHECK(zstd.raw_zstd == 29);
  // Of shards, all count together.
  const DecodePaths shards = build(mixed_folder(), dir / "shards.rec", {.shards = 3}).decode_paths;
  CHECK(shards.indexed_jpeg == kept.indexed_jpeg);
  CHECK(shards.other == kept.other);
}

TEST_CASE("restart markers stand in what was asked to have them") {
  const TempDir dir;
  const auto has_restarts = [&](const Transform& transform) {
    build(mixed_folder(), dir / "a.rec", {.overwrite = true, .transform = transform});
    const auto store = open_store(dir / "a.rec");
    CHECK(store->key(1) == "train/a/color.JPEG");
    return contains(as_text(store->bytes(1).payload), std::string_view("\xff\xdd\x00\x04", 4));
  };
  CHECK_FALSE(has_restarts({}));
  CHECK_FALSE(has_restarts({.jpeg = JpegHandling::baseline}));
  CHECK_FALSE(has_restarts({.encode = Encode::jpeg, .quality = 80}));
  CHECK(has_restarts({.jpeg = JpegHandling::restart}));
  CHECK(has_restarts({.encode = Encode::jpeg, .jpeg = JpegHandling::restart}));
  CHECK(has_restarts({.encode = Encode::jpeg, .jpeg = JpegHandling::restart, .quality = 80}));
}

TEST_CASE("a variant does not depend on the number of threads, nor on being cut into shards") {
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const TempDir dir;
    BuildOptions options = options_for(variant.transform);
    options.threads = 1;
    build(mixed_folder(), dir / "1.rec", options);
    for (const unsigned threads : {2u, 5u}) {
      options.threads = threads;
      build(mixed_folder(), dir / "n.rec", options);
      CHECK(read_file(dir / "n.rec") == read_file(dir / "1.rec"));
      fs::remove(dir / "n.rec");
    }
    options.shards = 3;
    build(mixed_folder(), dir / "s.rec", options);
    const auto whole = open_store(dir / "1.rec");
    const auto shards = open_store(dir / "s.rec");
    REQUIRE(shards->size() == whole->size());
    CHECK(shards->info().transform == whole->info().transform);
    for (std::uint64_t i = 0; i < whole->size(); ++i) {
      CHECK(shards->key(i) == whole->key(i));
      CHECK(shards->meta(i) == whole->meta(i));
      CHECK(same_bytes(shards->bytes(i).payload, whole->bytes(i).payload));
      CHECK(same_bytes(shards->bytes(i).segments, whole->bytes(i).segments));
    }
  }
}

TEST_CASE("a variant whose build was cut goes on to the same bytes, but not with other options") {
  const TempDir source;
  make_image_folder(source / "images", 3, 24);
  write_file(source / "images/train/n00000001/odd.png", make_png(50, 44, 1));
  const Transform transforms[] = {
      {},
      {.jpeg = JpegHandling::restart, .normalize = true},
      {.encode = Encode::jpeg, .resize = 40, .upscale = true},
      {.encode = Encode::raw, .resize = 256, .resize_mode = ResizeMode::center_crop, .upscale = true},
      {.encode = Encode::raw, .resize = 64, .resize_mode = ResizeMode::exact, .upscale = true, .zstd_level = 3},
  };
  for (const Format format : formats()) {
    for (const Transform& transform : transforms) {
      CAPTURE(to_string(format));
      CAPTURE(transform.describe()["encode"]);
      const TempDir dir;
      BuildOptions options{.format = format, .transform = transform};
      build(source / "images", output(dir, "whole", format), options);
      const fs::path cut = output(dir, "cut", format);
      options.progress = [](const BuildProgress& now) { return now.entries_done * 4 <= now.entries_total * 3; };
      CHECK(error_of([&] { build(source / "images", cut, options); }).message() == "cancelled");
      options.progress = nullptr;
      options.resume = true;

      BuildOptions other = options;
      other.transform->encode = transform.encode == Encode::raw ? Encode::keep : Encode::raw;
      other.transform->resize = 0;
      other.transform->jpeg = JpegHandling::keep;
      other.transform->normalize = false;
      other.transform->zstd_level.reset();
      other.transform->upscale = false;
      CHECK(error_of([&] { build(source / "images", cut, other); }).code() == ErrorCode::invalid_argument);

      const BuildReport resumed = build(source / "images", cut, options);
      // What is small was not yet on disk when the build was cut.
      if (transform.fixed_side() == 256u && format == Format::rec) CHECK(resumed.resumed_entries > 0);
      CHECK(all_bytes(cut) == all_bytes(output(dir, "whole", format)));
    }
  }
}

TEST_CASE("each option of a transform counts when a build is resumed") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 24);
  const Transform plain{.encode = Encode::jpeg, .resize = 40, .upscale = true};
  BuildOptions options{.transform = plain};
  int left = 3;
  options.progress = [&left](const BuildProgress&) { return --left > 0; };
  CHECK(error_of([&] { build(dir / "images", dir / "a.rec", options); }).message() == "cancelled");
  options.progress = nullptr;
  options.resume = true;
  for (const auto& change :
       {+[](Transform& t) { t.resize = 41; }, +[](Transform& t) { t.quality = 90; },
        +[](Transform& t) { t.subsampling = Subsampling::s420; },
        +[](Transform& t) { t.interpolation = Interpolation::bicubic; },
        +[](Transform& t) { t.resize_mode = ResizeMode::longer; }, +[](Transform& t) { t.upscale = false; },
        +[](Transform& t) { t.index = false; }, +[](Transform& t) { t.jpeg = JpegHandling::baseline; },
        +[](Transform& t) { t.apply_exif_orientation = true; }}) {
    options.transform = plain;
    change(*options.transform);
    CHECK(error_of([&] { build(dir / "images", dir / "a.rec", options); }).code() == ErrorCode::invalid_argument);
  }
  options.transform = plain;
  CHECK(build(dir / "images", dir / "a.rec", options).records == 96);
}

TEST_CASE("images too small for pixels of one size stop a build, with advice") {
  const TempDir dir;
  const Transform transform{.encode = Encode::raw, .resize = 32, .resize_mode = ResizeMode::center_crop};
  const Error error = error_of([&] { build(mixed_folder(), dir / "a.rec", {.transform = transform}); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(contains(error.message(), "--upscale"));
  CHECK_FALSE(error.place().file.empty());
  CHECK_FALSE(fs::exists(dir / "a.rec"));
}

TEST_CASE("results of more pixels than allowed are refused before they are made") {
  const TempDir dir;
  write_file(dir / "images/a/a.JPEG", make_jpeg(20, 20, 1));
  const Transform transform{.encode = Encode::raw, .resize = 65'000, .resize_mode = ResizeMode::exact, .upscale = true};
  const Error error = error_of([&] { build(dir / "images", dir / "a.rec", {.transform = transform}); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(contains(error.message(), "65000x65000"));
}

TEST_CASE("an image that can't be a JPEG is left out, and its neighbours are packed") {
  const TempDir dir;
  write_file(dir / "images/a/a.png", make_png(70'000, 1, 1));
  write_file(dir / "images/a/b.png", make_png(20, 10, 2));
  const BuildOptions options{.on_error = OnError::skip, .transform = Transform{.encode = Encode::jpeg}};
  const BuildReport report = build(dir / "images", dir / "a.rec", options);
  CHECK(report.records == 1);
  REQUIRE(report.left_out.size() == 1);
  CHECK(report.left_out.front().key == "a/a.png");
}

TEST_CASE("options that contradict each other are refused before anything is written") {
  const TempDir dir;
  const BuildOptions options{.transform = Transform{.resize = 20}};
  CHECK(error_of([&] { build(mixed_folder(), dir / "a.rec", options); }).code() == ErrorCode::invalid_argument);
  build(mixed_folder(), dir / "b.rec", {});
  CHECK(error_of([&] { convert(dir / "b.rec", dir / "a.rec", options); }).code() == ErrorCode::invalid_argument);
  CHECK_FALSE(fs::exists(dir / "a.rec"));
}

TEST_CASE("a packed image that a new variant cannot decode is refused, others are converted") {
  const TempDir dir;
  std::vector<std::byte> half = make_jpeg(64, 64, 1);
  half.resize(half.size() / 2);
  write_file(dir / "images/a/half.JPEG", half);
  write_file(dir / "images/a/whole.JPEG", make_jpeg(64, 64, 2));
  CHECK(build(dir / "images", dir / "keep.rec", {}).records == 2);
  const VerifyReport report = verify_pixels(*open_store(dir / "keep.rec"), {});
  REQUIRE(report.damage_count == 1);
  CHECK(report.damage[0].record == 0);
  const BuildReport raw = convert(dir / "keep.rec", dir / "raw.rec", options_for({.encode = Encode::raw}));
  CHECK(raw.records == 1);
  REQUIRE(raw.left_out.size() == 1);
  CHECK(raw.left_out[0].key == "a/half.JPEG");
  const BuildReport normal = build(dir / "images", dir / "n.rec", options_for({.normalize = true}));
  CHECK(normal.refused_count == 1);
}

}  // namespace imgpack
