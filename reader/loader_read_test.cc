// Where loaders read records from: ahead of their use, past the page cache, and from no other file.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "formats/each_format.h"
#include "imgpack/loader.h"
#include "reader/loader_testing.h"
#include "tests/support/forwarding_store.h"

namespace imgpack {

namespace {

using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::small_options;

TEST_CASE("one file opened twice is read past the cache as well as once") {
  const PackedImages images;
  LoaderOptions options = small_options();
  options.split = "";
  const auto seen = [&](ReadMode mode) {
    options.read = mode;
    Loader loader({{.dataset = images.open(), .split = "train"}, {.dataset = images.open(), .split = "val"}}, options);
    return look_at(loader.epoch());
  };
  CHECK(seen(ReadMode::unbuffered) == seen(ReadMode::mapped));
}

TEST_CASE("a file that has taken the dataset's name is not read in its place") {
  testing::for_each_format([](Format format) {
    const PackedImages images(format);
    LoaderOptions options = small_options();
    const Dataset data = images.open();
    const auto seen = [&](ReadMode mode) {
      options.read = mode;
      Loader loader(data, options);
      return look_at(loader.epoch());
    };
    const std::vector<SeenBatch> expected = seen(ReadMode::mapped);
    std::filesystem::path other = images.path();
    other += ".other";
    std::filesystem::copy_file(images.path(), other);
    std::filesystem::resize_file(other, std::filesystem::file_size(other) / 2);
    std::filesystem::rename(other, images.path());
    CHECK(seen(ReadMode::unbuffered) == expected);
    std::filesystem::remove(images.path());
    CHECK(seen(ReadMode::unbuffered) == expected);
  });
}

/// A store that notes what is asked for ahead.
class CountingStore final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void prefetch(std::uint64_t first, std::uint64_t count) const override {
    const std::lock_guard lock(mutex_);
    ranges_.push_back({.begin = first, .end = first + count});
  }
  std::vector<RecordRange> ranges() const {
    const std::lock_guard lock(mutex_);
    return ranges_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::vector<RecordRange> ranges_;
};

TEST_CASE("records are asked for ahead, one by one or by whole blocks, each once an epoch") {
  const PackedImages images;
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block}) {
    for (const ReadMode mode : {ReadMode::ahead, ReadMode::mapped}) {
      CAPTURE(to_string(shuffle));
      const auto store = std::make_shared<CountingStore>(open_store(images.path()));
      LoaderOptions options = small_options();
      options.prefetch_next_epoch = false;
      options.sampling = {.shuffle = shuffle, .block_records = 5, .window_blocks = 2};
      options.read = mode;
      Loader loader(Dataset(store), options);
      look_at(loader.epoch(2));
      CHECK(loader.stats().read_ahead == (mode == ReadMode::ahead));
      std::vector<int> asked(PackedImages::kTrain);
      bool longer = false;
      for (const RecordRange& range : store->ranges()) {
        longer = longer || range.size() == 5;
        for (std::uint64_t record = range.begin; record < range.end; ++record) ++asked.at(record);
      }
      CHECK(std::all_of(asked.begin(), asked.end(), [&](int times) { return times == (mode == ReadMode::ahead); }));
      CHECK(longer == (mode == ReadMode::ahead && shuffle == Shuffle::block));
    }
  }
}

}  // namespace

}  // namespace imgpack
