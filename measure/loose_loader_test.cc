#include "measure/loose_loader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "imgpack/build.h"
#include "imgpack/loader.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;
using testing::code_of;
using testing::TempDir;
using testing::write_file;

constexpr std::uint64_t kImages = 18;

/// 18 images of three classes.
class ImageFolder {
 public:
  ImageFolder() { testing::make_image_folder(folder_.path() / "all", 3, 6); }
  fs::path path() const { return folder_.path() / "all/train"; }
  fs::path work() const { return folder_.path(); }
  std::shared_ptr<const std::vector<LooseFile>> list() const {
    return std::make_shared<const std::vector<LooseFile>>(list_images(path()));
  }

 private:
  TempDir folder_;
};

BatchStreamOptions small_batches() {
  return {.batch_size = 5,
          .threads = 3,
          .transform = {RandomResizedCrop{24}, HorizontalFlip{}, Normalize::imagenet()},
          .seed = 11,
          .single_pass = true};
}

using Pixels = std::vector<std::byte>;

/// {record: its pixels and label} of one pass.
std::map<std::uint64_t, std::pair<Pixels, std::int64_t>> one_pass(LooseLoader& loader) {
  std::map<std::uint64_t, std::pair<Pixels, std::int64_t>> seen;
  while (const auto size = loader.next()) {
    REQUIRE(loader.records().size() == *size);
    const std::size_t each = loader.images().size() / *size;
    for (std::uint32_t i = 0; i < *size; ++i) {
      const auto pixels = loader.images().subspan(i * each, each);
      const bool fresh =
          seen.emplace(loader.records()[i], std::pair{Pixels(pixels.begin(), pixels.end()), loader.labels()[i]}).second;
      CHECK(fresh);
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("loose files become the same batches as a packed dataset") {
  const ImageFolder folder;
  build(folder.path(), folder.work() / "images.rec", {});
  const BatchStreamOptions options = small_batches();
  LooseLoader loose(folder.list(), options);
  const auto seen = one_pass(loose);
  CHECK(seen.size() == kImages);
  CHECK(loose.next() == std::nullopt);

  Loader packed(Dataset::open(folder.work() / "images.rec"),
                {.batch_size = 5, .seed = options.seed, .transform = options.transform});
  for (const Batch& batch : packed.epoch(0)) {
    const std::size_t each = batch.images().size() / batch.size();
    for (std::uint32_t i = 0; i < batch.size(); ++i) {
      const auto found = seen.find(batch.records()[i]);
      REQUIRE(found != seen.end());
      CHECK(std::ranges::equal(found->second.first, batch.images().subspan(i * each, each)));
      CHECK(found->second.second == batch.labels()[i]);
    }
  }
}

TEST_CASE("batches do not depend on the number of threads") {
  const ImageFolder folder;
  std::vector<std::vector<std::uint64_t>> orders;
  for (const unsigned threads : {1U, 4U}) {
    BatchStreamOptions options = small_batches();
    options.threads = threads;
    options.single_pass = false;
    LooseLoader loader(folder.list(), options);
    std::vector<std::uint64_t> order;
    for (int batch = 0; batch < 12; ++batch) {  // three epochs of four batches
      REQUIRE(loader.next() == (batch % 4 == 3 ? 3 : 5));
      order.insert(order.end(), loader.records().begin(), loader.records().end());
    }
    orders.push_back(std::move(order));
  }
  CHECK(orders[0] == orders[1]);
  const auto epoch = [&](std::size_t number) {
    const auto begin = orders[0].begin() + static_cast<std::ptrdiff_t>(number * kImages);
    return std::vector<std::uint64_t>(begin, begin + kImages);
  };
  for (std::size_t number = 0; number < 3; ++number) {
    const std::vector<std::uint64_t> records = epoch(number);
    CHECK(std::set<std::uint64_t>(records.begin(), records.end()).size() == kImages);
  }
  CHECK(epoch(0) != epoch(1));
}

TEST_CASE("bytes are counted, and a loader may be left at any time") {
  const ImageFolder folder;
  std::uint64_t bytes = 0;
  const auto list = folder.list();
  for (const LooseFile& file : *list) bytes += fs::file_size(file.path);
  LooseLoader whole(folder.list(), small_batches());
  one_pass(whole);
  CHECK(whole.bytes_read() == bytes);

  BatchStreamOptions endless = small_batches();
  endless.single_pass = false;
  LooseLoader left(folder.list(), endless);
  CHECK(left.next() == 5);
  const LooseLoader never_begun(folder.list(), endless);
}

TEST_CASE("a damaged file ends the stream with its name") {
  const ImageFolder folder;
  const fs::path victim = folder.list()->at(7).path;
  write_file(victim, "no image");
  LooseLoader loader(folder.list(), small_batches());
  try {
    one_pass(loader);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().file == victim.native());
  }
  CHECK(code_of([&] { loader.next(); }) == ErrorCode::damaged);
}

TEST_CASE("what it can't do is refused") {
  const ImageFolder folder;
  const auto code = [&](auto change) {
    BatchStreamOptions options = small_batches();
    change(options);
    return code_of([&] { LooseLoader(folder.list(), options); });
  };
  CHECK(code([](auto& options) { options.device = "cuda"; }) == ErrorCode::unsupported);
  CHECK(code([](auto& options) { options.transform = {HorizontalFlip{}}; }) == ErrorCode::invalid_argument);
  CHECK(code([](auto& options) { options.transform.push_back(MixUp{}); }) == ErrorCode::invalid_argument);
  CHECK(code([](auto& options) { options.batch_size = 0; }) == ErrorCode::invalid_argument);
  CHECK(code([](auto& options) { options.threads = 0; }) == ErrorCode::invalid_argument);
}

}  // namespace imgpack::measure
