// Which batches a loader delivers: the same ones, whoever makes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "formats/each_format.h"
#include "imgpack/loader.h"
#include "reader/loader_testing.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::code_of;
using testing::error_of;
using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::SeenSample;
using testing::small_options;

std::vector<SeenSample> joined(const std::vector<SeenBatch>& batches) {
  std::vector<SeenSample> all;
  for (const SeenBatch& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

std::vector<std::vector<SeenBatch>> epochs(const Dataset& data, const LoaderOptions& options, int count) {
  Loader loader(data, options);
  std::vector<std::vector<SeenBatch>> seen;
  for (int i = 0; i < count; ++i) seen.push_back(look_at(loader.epoch()));
  return seen;
}

/// Step by step, the ranks' parts in order of rank.
std::vector<SeenBatch> union_of_ranks(const Dataset& data, LoaderOptions options, std::uint32_t world_size,
                                      const LoaderState* from = nullptr) {
  std::vector<SeenBatch> all;
  options.world_size = world_size;
  for (options.rank = 0; options.rank < world_size; ++options.rank) {
    Loader loader(data, options);
    if (from != nullptr) loader.restore(*from);
    const std::vector<SeenBatch> part = look_at(loader.epoch());
    if (options.rank == 0) all.resize(part.size());
    REQUIRE(part.size() == all.size());
    for (std::size_t i = 0; i < part.size(); ++i) all[i].insert(all[i].end(), part[i].begin(), part[i].end());
  }
  return all;
}

TEST_CASE("batches are the same whatever the threads, the format, the reads and the depth") {
  std::optional<std::vector<std::vector<SeenBatch>>> expected;
  testing::for_each_format([&](Format format) {
    const PackedImages images(format);
    const Dataset data = images.open();
    for (const unsigned threads : {1u, 2u, 8u, 0u}) {
      CAPTURE(threads);
      LoaderOptions options = small_options();
      options.threads = threads;
      const auto seen = epochs(data, options, 2);
      if (!expected) expected = seen;
      CHECK(seen == *expected);
    }
    LoaderOptions options = small_options();
    options.read = ReadMode::unbuffered;
    options.read_threads = 3;
    CHECK(epochs(data, options, 2) == *expected);
    options.read = ReadMode::mapped;
    options.prefetch_batches = 1;
    options.verify_checksums = true;
    CHECK(epochs(data, options, 2) == *expected);
  });
  CHECK((*expected)[0] != (*expected)[1]);
  CHECK((*expected)[0].size() == 7);
}

TEST_CASE("the ranks' parts in order are the global batch, for every number of ranks") {
  const PackedImages images;
  const Dataset data = images.open();
  LoaderOptions options = small_options(0);
  options.global_batch_size = 10;
  for (const bool mixed : {false, true}) {
    CAPTURE(mixed);
    if (mixed) options.transform.push_back(MixUp{0.4});
    const std::vector<SeenBatch> whole = union_of_ranks(data, options, 1);
    CHECK(whole.size() == 6);
    CHECK(whole.back().size() == 1);
    for (const std::uint32_t world_size : {2u, 3u, 4u}) {
      CAPTURE(world_size);
      std::vector<SeenBatch> parts = union_of_ranks(data, options, world_size);
      // Of the last sample one rank has it all; the others have something that does not count.
      std::erase_if(parts.back(), [](const SeenSample& sample) { return !sample.counts; });
      CHECK(parts == whole);
    }
  }
}

TEST_CASE("each sample comes once an epoch, and padding does not count") {
  const PackedImages images;
  const Dataset data = images.open();
  const RecordRange train = data.select("train").front();
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block, Shuffle::none}) {
    for (const LastBatch last : {LastBatch::partial, LastBatch::pad, LastBatch::drop}) {
      for (const std::uint32_t world_size : {1u, 3u, 4u}) {
        CAPTURE(to_string(shuffle));
        CAPTURE(to_string(last));
        CAPTURE(world_size);
        LoaderOptions options = small_options(0);
        options.global_batch_size = 8;
        options.last_batch = last;
        options.sampling = {.shuffle = shuffle, .block_records = 4, .window_blocks = 3};
        const std::vector<SeenBatch> batches = union_of_ranks(data, options, world_size);
        std::map<std::uint64_t, int> seen;
        for (const SeenSample& sample : joined(batches)) seen[sample.record] += sample.counts ? 1 : 0;
        std::erase_if(seen, [](const auto& entry) { return entry.second == 0; });
        CHECK(seen.size() == (last == LastBatch::drop ? 48 : PackedImages::kTrain));
        CHECK(std::all_of(seen.begin(), seen.end(), [&](const auto& entry) {
          return entry.second == 1 && entry.first >= train.begin && entry.first < train.end;
        }));
        if (last != LastBatch::partial) {
          CHECK(std::all_of(batches.begin(), batches.end(), [](const SeenBatch& batch) { return batch.size() == 8; }));
        }
      }
    }
  }
}

TEST_CASE("a run goes on from any step on any number of ranks") {
  const PackedImages images;
  const Dataset data = images.open();
  LoaderOptions options = small_options(0);
  options.global_batch_size = 6;
  const auto expected = epochs(data, options, 3);
  for (std::size_t stop = 0; stop <= expected[1].size(); ++stop) {
    CAPTURE(stop);
    options.world_size = 1;
    options.rank = 0;
    Loader first(data, options);
    Epoch epoch = first.epoch(1);
    for (std::size_t i = 0; i < stop; ++i) {
      const std::optional<Batch> batch = epoch.next();
      REQUIRE(batch);
      CHECK(batch->step() == i);
      CHECK(batch->state() == first.state());
    }
    const LoaderState state = LoaderState::from_json(first.state().to_json());
    CHECK(state == first.state());
    const bool over = stop == expected[1].size();
    CHECK(state.epoch == (over ? 2 : 1));
    const std::vector<SeenBatch> rest =
        over ? expected[2] : std::vector(expected[1].begin() + static_cast<std::ptrdiff_t>(stop), expected[1].end());
    for (const std::uint32_t world_size : {1u, 2u, 3u}) {
      CAPTURE(world_size);
      CHECK(union_of_ranks(data, options, world_size, &state) == rest);
    }
    // Another global batch size cuts the same samples in another way.
    LoaderOptions other = options;
    other.global_batch_size = 5;
    CHECK(joined(union_of_ranks(data, other, 1, &state)) == joined(rest));
  }
}

TEST_CASE("after a resume the following epochs are those of the uninterrupted run") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto expected = epochs(data, small_options(), 3);
  LoaderOptions options = small_options();
  options.seed = 99;  // the state's seed counts
  Loader loader(data, options);
  loader.restore({.epoch = 1, .samples = 16, .seed = 7, .order = loader.state().order});
  CHECK(code_of([&] { static_cast<void>(loader.epoch(0)); }) == ErrorCode::invalid_argument);
  CHECK(loader.epoch().batches_left() == 5);
  loader.restore({.epoch = 1, .samples = 16, .seed = 7, .order = loader.state().order});
  CHECK(look_at(loader.epoch(1)) == std::vector(expected[1].begin() + 2, expected[1].end()));
  CHECK(look_at(loader.epoch()) == expected[2]);
  CHECK(look_at(loader.epoch(0)) == expected[0]);
}

TEST_CASE("a state of other data or another order is refused") {
  const PackedImages images;
  const PackedImages same(Format::tfrecord);
  const Dataset data = images.open();
  LoaderOptions options = small_options();
  const LoaderState state = Loader(data, options).state();
  Loader(same.open(), options).restore(state);  // the same content in another format
  const auto refused = [&](const LoaderOptions& other) {
    Loader loader(data, other);
    const Error error = error_of([&] { loader.restore(state); });
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(error.message().find("another dataset") != std::string::npos);
  };
  LoaderOptions other = options;
  other.split = "val";
  refused(other);
  other = options;
  other.sampling.shuffle = Shuffle::block;
  refused(other);
  LoaderState late = state;
  late.samples = PackedImages::kTrain;
  Loader loader(data, options);
  CHECK(code_of([&] { loader.restore(late); }) == ErrorCode::invalid_argument);
  for (const char* text : {"", "[]", "{}", R"({"version": 2, "epoch": 0, "samples": 0, "seed": "0x", "order": ""})",
                           R"({"version": 1, "epoch": -1, "samples": 0, "seed": "0x0000000000000000", "order": ""})"}) {
    CAPTURE(text);
    CHECK(code_of([&] { LoaderState::from_json(text); }) == ErrorCode::invalid_argument);
  }
}

TEST_CASE("weights, lists and mixtures reach the batches") {
  const PackedImages images;
  const Dataset data = images.open();
  LoaderOptions options = small_options();
  options.split = "";
  Loader weighted({{.dataset = data, .split = "train", .class_weights = {0, 1, 0}}}, options);
  for (const SeenSample& sample : joined(look_at(weighted.epoch()))) CHECK(sample.label == 1);
  options.sampling.shuffle = Shuffle::none;
  Loader listed({{.dataset = data, .records = {60, 3, 3, 5}}}, options);
  const std::vector<SeenSample> seen = joined(look_at(listed.epoch()));
  REQUIRE(seen.size() == 4);
  CHECK(seen[0].record == 60);
  CHECK(seen[3].record == 5);
  options.sampling = {.samples_per_epoch = 4096};
  options.batch_size = 64;
  Loader mixed({{.dataset = data, .split = "train", .proportion = 3}, {.dataset = data, .split = "val"}}, options);
  std::map<std::uint32_t, int> count;
  std::set<std::uint64_t> looks;  // of one record: drawn anew each time it comes
  for (const SeenSample& sample : joined(look_at(mixed.epoch()))) {
    ++count[sample.dataset];
    if (sample.dataset == 1 && sample.record == PackedImages::kTrain) looks.insert(sample.pixels);
  }
  CHECK(count == std::map<std::uint32_t, int>{{0, 3072}, {1, 1024}});
  CHECK(looks.size() > 60);
}

TEST_CASE("shapes, layouts and dtypes") {
  const PackedImages images;
  const Dataset data = images.open();
  LoaderOptions options = small_options();
  options.transform = {RandomResizedCrop{ImageSize{20, 30}}, HorizontalFlip{}};
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      options.dtype = dtype;
      options.layout = layout;
      Loader loader(data, options);
      CHECK(loader.batches() == 7);
      CHECK(loader.samples() == PackedImages::kTrain);
      Epoch epoch = loader.epoch();
      const Batch batch = *epoch.next();
      CHECK(batch.shape() == std::array<std::int64_t, 4>{8, 3, 20, 30});
      CHECK(batch.strides() == (layout == Layout::nchw ? std::array<std::int64_t, 4>{1800, 600, 30, 1}
                                                       : std::array<std::int64_t, 4>{1800, 1, 90, 3}));
      CHECK(batch.images().size() == 8 * 1800 * size_of(dtype));
      CHECK(reinterpret_cast<std::uintptr_t>(batch.images().data()) % 64 == 0);
    }
  }
  options.transform = {};
  Loader loader(data, options);  // images of different sizes
  const Error error = error_of([&] { look_at(loader.epoch()); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK(error.message().find("one size") != std::string::npos);
}

TEST_CASE("options that make no sense are refused") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto code = [&](auto&& change) {
    LoaderOptions options = small_options();
    change(options);
    return code_of([&] { Loader loader(data, options); });
  };
  CHECK(code([](LoaderOptions& o) { o.split = "test"; }) == ErrorCode::not_found);
  CHECK(code([](LoaderOptions& o) { o.device = "cuda"; }) == ErrorCode::unsupported);
  CHECK(code([](LoaderOptions& o) { o.rank = 1; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) { o.world_size = 0; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) { o.global_batch_size = 9; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) {
          o.batch_size = 0;
          o.global_batch_size = 3;
          o.world_size = 4;
        }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) { o.dtype = DType::u8; }) == ErrorCode::invalid_argument);  // with Normalize
  CHECK(code([](LoaderOptions& o) { o.threads = 1u << 30; }) == ErrorCode::invalid_argument);
}

}  // namespace

}  // namespace imgpack
