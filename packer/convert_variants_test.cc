// From one variant to another, and from format to format without touching a record.
#include <algorithm>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "codec/decode.h"
#include "formats/backend.h"
#include "imgpack/build.h"
#include "imgpack/store.h"
#include "imgpack/verify.h"
#include "packer/variants_testing.h"
#include "tests/support/files.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;

constexpr Transform kRawSquares{
    .encode = Encode::raw, .resize = 20, .resize_mode = ResizeMode::center_crop, .upscale = true};

/// HDF5 names the datasets in the root group's header.
bool has_images_array(const fs::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return as_text(bytes).find("images") != std::string_view::npos;
}

void check_same_records(const StoreReader& a, const StoreReader& b) {
  REQUIRE(a.size() == b.size());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    CHECK(a.key(i) == b.key(i));
    CHECK(a.meta(i) == b.meta(i));
    CHECK(std::ranges::equal(a.bytes(i).payload, b.bytes(i).payload));
    CHECK(std::ranges::equal(a.bytes(i).segments, b.bytes(i).segments));
  }
}

}  // namespace

TEST_CASE("converting without a transform takes records over, whatever variant they are") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const BuildOptions options{.on_error = OnError::skip, .overwrite = true, .transform = variant.transform};
    build(dir / "source", dir / "a.rec", options);
    const auto original = open_store(dir / "a.rec");
    for (const FormatEntry& entry : format_entries()) {
      const fs::path path = dir / fmt::format("b.{}", to_string(entry.format));
      convert(dir / "a.rec", path, {.format = entry.format, .overwrite = true});
      const auto converted = open_store(path);
      check_same_records(*original, *converted);
      CHECK(converted->info().content_digest == original->info().content_digest);
      CHECK(converted->info().transform == original->info().transform);
    }
  }
}

TEST_CASE("a variant made from a packed file is the one made from its source") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  build(dir / "source", dir / "keep.rec", {});
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    const BuildOptions options{.on_error = OnError::skip, .overwrite = true, .transform = variant.transform};
    build(dir / "source", dir / "direct.rec", options);
    convert(dir / "keep.rec", dir / "converted.rec", options);
    CHECK(read_file(dir / "converted.rec") == read_file(dir / "direct.rec"));
  }
}

TEST_CASE("a second transform says what the first one was") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  build(dir / "source", dir / "raw.rec", {.transform = kRawSquares});
  convert(dir / "raw.rec", dir / "zstd.rec", {.transform = Transform{.encode = Encode::raw, .zstd_level = 5}});
  const auto info = open_store(dir / "zstd.rec")->info();
  CHECK(info.transform.at("zstd") == "5");
  CHECK(info.transform.at("source_transform").find("resize=20") != std::string::npos);
  convert(dir / "zstd.rec", dir / "back.rec", {.transform = Transform{.encode = Encode::raw}});
  const auto raw = open_store(dir / "raw.rec");
  const auto back = open_store(dir / "back.rec");
  check_same_records(*raw, *back);
  const std::string& steps = back->info().transform.at("source_transform");
  CHECK(steps.find("resize=20") < steps.find("; "));
  CHECK(steps.find("zstd=5") > steps.find("; "));
  CHECK(verify_pixels(*open_store(dir / "zstd.rec"), {}).damage_count == 0);
}

TEST_CASE("pixels of one size that are decompressed are known to have it") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  Transform compressed = kRawSquares;
  compressed.zstd_level = 5;
  build(dir / "source", dir / "zstd.rec", {.transform = compressed});
  convert(dir / "zstd.rec", dir / "raw.rec", {.transform = Transform{.encode = Encode::raw}});
  CHECK(open_store(dir / "raw.rec")->info().transform.at("raw_shape") == "20x20");
}

TEST_CASE("indexes are added to files that were packed without them, and taken away") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  build(dir / "source", dir / "indexed.rec", {});
  build(dir / "source", dir / "plain.rec", {.transform = Transform{.index = false}});
  convert(dir / "plain.rec", dir / "added.rec", {.transform = Transform{}});
  CHECK(read_file(dir / "added.rec") == read_file(dir / "indexed.rec"));
  convert(dir / "indexed.rec", dir / "removed.rec", {.transform = Transform{.index = false}});
  check_same_records(*open_store(dir / "plain.rec"), *open_store(dir / "removed.rec"));
}

TEST_CASE("pixels are encoded as JPEG, and pixels that are kept stay") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  build(dir / "source", dir / "raw.rec", {.transform = kRawSquares});
  convert(dir / "raw.rec", dir / "jpeg.rec", {.transform = Transform{.encode = Encode::jpeg}});
  const auto jpeg = open_store(dir / "jpeg.rec");
  for (std::uint64_t i = 0; i < jpeg->size(); ++i) {
    CHECK(decode_path(jpeg->meta(i)) == DecodePath::indexed_jpeg);
    CHECK(jpeg->meta(i).width == 20);
  }
  convert(dir / "raw.rec", dir / "kept.rec", {.transform = Transform{.jpeg = JpegHandling::baseline}});
  check_same_records(*open_store(dir / "raw.rec"), *open_store(dir / "kept.rec"));
}

TEST_CASE("pixels of one size are an array in HDF5, made there or brought there") {
  const TempDir dir;
  make_mixed_folder(dir / "source");
  build(dir / "source", dir / "raw.hdf5", {.transform = kRawSquares});
  CHECK(has_images_array(dir / "raw.hdf5"));
  build(dir / "source", dir / "raw.rec", {.transform = kRawSquares});
  convert(dir / "raw.rec", dir / "converted.hdf5", {});
  CHECK(read_file(dir / "converted.hdf5") == read_file(dir / "raw.hdf5"));
  // Options that do nothing to pixels leave them an array.
  convert(dir / "raw.rec", dir / "kept.hdf5", {.transform = Transform{.normalize = true}});
  CHECK(has_images_array(dir / "kept.hdf5"));
  check_same_records(*open_store(dir / "raw.hdf5"), *open_store(dir / "kept.hdf5"));

  Transform compressed = kRawSquares;
  compressed.zstd_level = 1;
  build(dir / "source", dir / "zstd.hdf5", {.transform = compressed});
  CHECK_FALSE(has_images_array(dir / "zstd.hdf5"));
  build(dir / "source", dir / "sizes.hdf5", {.transform = Transform{.encode = Encode::raw}});
  CHECK_FALSE(has_images_array(dir / "sizes.hdf5"));
}

}  // namespace imgpack
