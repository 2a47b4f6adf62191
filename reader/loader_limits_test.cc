// Loaders where the machine has no more to give: memory, threads, and records whose sizes ask for too much.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "imgpack/loader.h"
#include "reader/loader_testing.h"
#include "tests/support/images.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::code_of;
using testing::error_of;
using testing::in_child;
using testing::look_at;
using testing::PackedImages;
using testing::small_options;

TEST_CASE("a record of absurd size is damage, whatever the transform would have to allocate for it") {
  testing::TempDir dir;
  testing::TestDataset dataset = testing::make_dataset({.records = 4});
  for (testing::TestRecord& record : dataset.records) {
    record.payload = testing::as_text(testing::make_jpeg(40, 30, 1));
    record.meta.codec = Codec::jpeg;
    record.meta.width = 40;
    record.meta.height = 30;
  }
  dataset.records[1].meta.width = dataset.records[1].meta.height = 0x7fffffff;
  const std::filesystem::path path = dir / "absurd.rec";
  testing::write_dataset(path, dataset, {});

  LoaderOptions options = small_options(4);
  options.split = "";
  options.on_damage = OnDamage::skip;
  options.transform = {ColorJitter{0.4}, CenterCrop{24}};
  for (const std::uint64_t most : {kDefaultMaxPixels, UINT64_MAX}) {
    CAPTURE(most);
    options.max_pixels = most;
    Loader loader(Dataset::open(path), options);
    CHECK(look_at(loader.epoch()).size() == 1);
    REQUIRE(loader.damage().size() == 1);
    CHECK(loader.damage().front().record == 1);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end programs that ask for too much memory
TEST_CASE("where memory does not suffice for a batch, next() says so, and the loader can be used again") {
  const PackedImages images;
  LoaderOptions options = small_options(10000);
  options.last_batch = LastBatch::pad;
  options.transform = {Resize{0, ImageSize::kMaxSide}};
  Loader loader(images.open(), options);
  for (int i = 0; i < 2; ++i) {
    Epoch epoch = loader.epoch(0);
    const Error error = error_of([&] { epoch.next(); });
    CHECK(error.code() == ErrorCode::out_of_memory);
    CHECK(error.message().find("514830000000000 bytes") != std::string::npos);
    CHECK_FALSE(epoch.next());
  }
}
#endif

TEST_CASE("batches ahead are limited") {
  const PackedImages images;
  LoaderOptions options = small_options();
  options.prefetch_batches = 1u << 20;
  CHECK(look_at(Loader(images.open(), options).epoch()).size() == 7);
  ++options.prefetch_batches;
  CHECK(code_of([&] { Loader(images.open(), options); }) == ErrorCode::invalid_argument);
}

// Thread sanitizer can't follow threads that are started in a child of a process with threads.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("where no thread can be started, epoch() says so, and the loader can be used later") {
  const PackedImages images;
  const Dataset data = images.open();
  for (const ReadMode read : {ReadMode::mapped, ReadMode::unbuffered}) {
    LoaderOptions options = small_options();
    options.read = read;
    const auto try_without_threads = [&] {
      constexpr uid_t kNobody = 65534;  // limits are not for root
      if (getuid() == 0 && setuid(kNobody) != 0) return 1;
      rlimit limit{};
      if (getrlimit(RLIMIT_NPROC, &limit) != 0) return 2;
      const rlim_t before = std::exchange(limit.rlim_cur, 0);
      if (setrlimit(RLIMIT_NPROC, &limit) != 0) return 3;
      Loader loader(data, options);
      if (code_of([&] { loader.epoch(0); }) != ErrorCode::io) return 4;
      limit.rlim_cur = before;
      if (setrlimit(RLIMIT_NPROC, &limit) != 0) return 5;
      return look_at(loader.epoch(0)).size() == 7 ? 0 : 6;
    };
    CHECK(in_child(try_without_threads) == 0);
  }
}

TEST_CASE("a child process may destroy what it has of its parent's, in any order") {
  const PackedImages images;
  for (const bool epoch_first : {true, false}) {
    for (const bool goes_on : {true, false}) {
      std::optional<Loader> loader(std::in_place, images.open(), small_options());
      std::optional<Epoch> epoch = loader->epoch();
      const Batch batch = *epoch->next();
      const auto destroy = [&] {
        if (goes_on && !epoch->next()) return 1;
        if (epoch_first) epoch.reset();
        loader.reset();
        epoch.reset();
        return 0;
      };
      CHECK(in_child(destroy) == 0);
    }
  }
}
#endif

}  // namespace

}  // namespace imgpack
