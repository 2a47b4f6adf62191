// What may happen to a loader while it runs: damage, consumers that keep, leave, throw or fork.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "formats/each_format.h"
#include "imgpack/loader.h"
#include "reader/loader_testing.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::code_of;
using testing::damage_record;
using testing::error_of;
using testing::in_child;
using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::SeenSample;
using testing::small_options;

TEST_CASE("a damaged record stops the epoch where its batch is due, or is left out") {
  testing::for_each_format([](Format format) {
    const PackedImages images(format);
    LoaderOptions options = small_options();
    options.sampling.shuffle = Shuffle::none;
    const std::vector<SeenBatch> expected = [&] {
      Loader loader(images.open(), options);
      return look_at(loader.epoch());
    }();
    damage_record(images.path(), 21);
    const Dataset data = images.open();

    Loader stopping(data, options);
    Epoch epoch = stopping.epoch();
    CHECK(look_at(*epoch.next()) == expected[0]);
    CHECK(look_at(*epoch.next()) == expected[1]);
    const Error error = error_of([&] { epoch.next(); });
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().record == 21);
    CHECK(error.place().file == data.store().place(21).file->string());
    CHECK(error.place().offset == data.store().place(21).offset);
    CHECK(error.message().find(std::string(data.store().key(21))) != std::string::npos);
    CHECK_FALSE(epoch.next());
    CHECK(stopping.state().samples == 16);

    options.on_damage = OnDamage::skip;
    for (const unsigned threads : {1u, 4u}) {
      options.threads = threads;
      Loader skipping(data, options);
      const std::vector<SeenBatch> seen = look_at(skipping.epoch());
      std::vector<SeenBatch> wanted = expected;
      const SeenSample failed = wanted[2][5];
      wanted[2][5] = wanted[2][4];
      wanted[2][5].record = failed.record;
      wanted[2][5].counts = false;
      CHECK(seen == wanted);
      CHECK(skipping.stats().damaged == 1);
      look_at(skipping.epoch());
      CHECK(skipping.stats().damaged == 2);
      REQUIRE(skipping.damage().size() == 1);  // each record once
      CHECK(skipping.damage().front().record == 21);
    }
  });
}

TEST_CASE("a batch of nothing but damage is black and does not count") {
  const PackedImages images;
  for (const std::uint64_t record : {0u, 1u}) damage_record(images.path(), record);
  LoaderOptions options = small_options(2);
  options.sampling.shuffle = Shuffle::none;
  options.on_damage = OnDamage::skip;
  options.transform = {Resize{0, 24}};
  options.dtype = DType::u8;
  Loader loader(images.open(), options);
  Epoch epoch = loader.epoch();
  const Batch batch = *epoch.next();
  CHECK(batch.skipped() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(batch.mask()[i] == 0);
    CHECK(batch.labels()[i] == kNoLabel);
  }
  CHECK(
      std::all_of(batch.images().begin(), batch.images().end(), [](std::byte value) { return value == std::byte{}; }));
  CHECK(look_at(std::move(epoch)).size() == 25);
}

TEST_CASE("checksums are verified if that is asked for") {
  const PackedImages images;
  {
    const std::unique_ptr<StoreReader> store = open_store(images.path());
    const PayloadPlace place = store->place(3);
    std::fstream file(*place.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place.offset + place.size - 1));
    file.put('\0');  // behind the end marker, which no decoder looks at
  }
  LoaderOptions options = small_options();
  Loader trusting(images.open(), options);
  CHECK(look_at(trusting.epoch()).size() == 7);
  options.verify_checksums = true;
  Loader checking(images.open(), options);
  const Error error = error_of([&] { look_at(checking.epoch()); });
  CHECK(error.code() == ErrorCode::damaged);
  CHECK(error.place().record == 3);
  CHECK(error.message().find("checksum") != std::string::npos);
}

TEST_CASE("batches that are kept are never overwritten, and outlive their loader") {
  const PackedImages images;
  std::vector<Batch> kept;
  std::vector<SeenBatch> seen;
  {
    LoaderOptions options = small_options(4);
    Loader loader(images.open(), options);
    while (kept.size() < 50) {
      for (Batch& batch : loader.epoch()) {
        kept.push_back(batch);
        seen.push_back(look_at(batch));
      }
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(look_at(kept[i]) == seen[i]);
}

TEST_CASE("memory is used again once nobody has it") {
  const PackedImages images;
  LoaderOptions options = small_options(4);
  options.prefetch_batches = 2;
  Loader loader(images.open(), options);
  std::vector<const void*> places;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (Batch& batch : loader.epoch()) places.push_back(batch.images().data());
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  CHECK(places.size() <= 4);  // prefetch_batches + 1, and the one that was kept when an epoch began
}

TEST_CASE("an epoch may be left early, outlived and replaced") {
  const PackedImages images;
  const auto expected = [&] {
    Loader loader(images.open(), small_options());
    return look_at(loader.epoch(5));
  }();
  std::optional<Loader> loader(std::in_place, images.open(), small_options());
  for (int i = 0; i < 20; ++i) {
    for (Batch& batch : loader->epoch()) {
      if (batch.step() == static_cast<std::uint64_t>(i % 3)) break;
    }
  }
  CHECK_THROWS_AS(
      [&] {
        for (Batch& batch : loader->epoch()) throw std::runtime_error(std::to_string(batch.size()));
      }(),
      std::runtime_error);
  Epoch replaced = loader->epoch(1);
  CHECK(replaced.next());
  Epoch epoch = loader->epoch(5);
  CHECK(code_of([&] { replaced.next(); }) == ErrorCode::invalid_argument);
  CHECK_FALSE(replaced.next());
  loader.reset();
  CHECK(look_at(std::move(epoch)) == expected);
}

TEST_CASE("waiting with a limit") {
  const PackedImages images;
  Loader loader(images.open(), small_options());
  Epoch epoch = loader.epoch();
  std::size_t batches = 0;
  while (true) {
    while (!epoch.wait(std::chrono::milliseconds(1))) {
    }
    if (!epoch.next()) break;
    ++batches;
  }
  CHECK(batches == loader.batches());
  CHECK(epoch.wait(std::chrono::milliseconds(0)));
}

TEST_CASE("statistics add up") {
  const PackedImages images;
  Loader loader(images.open(), small_options());
  look_at(loader.epoch());
  const LoaderStats stats = loader.stats();
  CHECK(stats.batches == 7);
  CHECK(stats.samples == PackedImages::kTrain);
  CHECK(stats.bytes_read > 10'000);
  CHECK(stats.decode_seconds > 0);
  CHECK(stats.threads == 2);
}

/// The signals that each thread of this process blocks.
std::vector<std::uint64_t> blocked_signals() {
  std::vector<std::uint64_t> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigBlk:")) masks.push_back(std::stoull(line.substr(7), nullptr, 16));
    }
  }
  return masks;
}

TEST_CASE("threads take no signals but those of their own faults") {
  const auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
  const PackedImages images;
  LoaderOptions options = small_options();
  options.read = ReadMode::unbuffered;
  options.read_threads = 3;
  const auto blocking = [&bit](const std::vector<std::uint64_t>& masks, int signal) {
    return std::count_if(masks.begin(), masks.end(), [&](std::uint64_t mask) { return (mask & bit(signal)) != 0; });
  };
  const std::vector<std::uint64_t> before = blocked_signals();  // a sanitizer has threads of its own
  Loader loader(images.open(), options);
  Epoch epoch = loader.epoch();
  CHECK(epoch.next());
  std::vector<std::uint64_t> masks = blocked_signals();
  // A thread that has only just been made blocks everything for a moment.
  for (int tries = 0; tries < 2000 && blocking(masks, SIGSEGV) != blocking(before, SIGSEGV); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    masks = blocked_signals();
  }
  CHECK(masks.size() == before.size() + 5);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD}) {
    CHECK(blocking(masks, signal) == blocking(before, signal) + 5);
  }
  for (const int signal : {SIGSEGV, SIGBUS}) CHECK(blocking(masks, signal) == blocking(before, signal));
}

TEST_CASE("an unusable size of images is refused before memory is asked for") {
  const PackedImages images;
  LoaderOptions options = small_options();
  options.transform = {};
  options.max_pixels = 100;
  const Error error = error_of([&] { Loader loader(images.open(), options); });
  CHECK(error.code() == ErrorCode::out_of_memory);
  CHECK(error.place().record);
}

TEST_CASE("different loaders work side by side") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto expected = [&] {
    Loader loader(data, small_options());
    return look_at(loader.epoch());
  }();
  std::vector<std::vector<SeenBatch>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : seen) {
      threads.emplace_back([&] {
        Loader loader(data, small_options());
        result = look_at(loader.epoch());
      });
    }
  }
  for (const auto& result : seen) CHECK(result == expected);
}

// Thread sanitizer can't follow threads that are started in a child of a process with threads.
#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a child process goes on with loaders, epochs and batches of its parent") {
  const PackedImages images;
  Loader loader(images.open(), small_options());
  const std::vector<SeenBatch> expected = look_at(loader.epoch(0));
  for (int stop = 0; stop < 7; ++stop) {
    CAPTURE(stop);
    Epoch epoch = loader.epoch(0);
    std::vector<SeenBatch> seen;
    std::optional<Batch> last;
    for (int i = 0; i < stop; ++i) {
      last = epoch.next();
      seen.push_back(look_at(*last));
    }
    const int result = in_child([&] {
      std::vector<SeenBatch> all = seen;
      if (last && look_at(*last) != all.back()) return 1;
      last.reset();
      while (const std::optional<Batch> batch = epoch.next()) all.push_back(look_at(*batch));
      if (all != expected) return 2;
      if (look_at(loader.epoch(0)) != expected) return 3;
      return 0;
    });
    CHECK(result == 0);
    while (const std::optional<Batch> batch = epoch.next()) seen.push_back(look_at(*batch));
    CHECK(seen == expected);  // nor did the child disturb its parent
  }
  CHECK(in_child([&] { return look_at(loader.epoch(0)) == expected ? 0 : 1; }) == 0);
  CHECK(in_child([&] { return 0; }) == 0);  // a child that does not use it
}

TEST_CASE("a child process may destroy what it has of its parent, in any order") {
  const PackedImages images;
  std::optional<Loader> loader(std::in_place, images.open(), small_options());
  const std::vector<SeenBatch> expected = look_at(loader->epoch(0));
  for (int round = 0; round < 5; ++round) {
    std::optional<Epoch> epoch(loader->epoch(0));
    std::optional<Batch> batch = epoch->next();
    CHECK(in_child([&] {
            loader.reset();
            batch.reset();
            epoch.reset();
            return 0;
          }) == 0);
    CHECK(in_child([&] {
            Epoch other = loader->epoch(0);
            epoch.reset();
            return look_at(std::move(other)) == expected ? 0 : 1;
          }) == 0);
    CHECK(in_child([&] {
            Loader moved = std::move(*loader);
            while (epoch->next()) {
            }
            epoch.reset();
            return look_at(moved.epoch(0)) == expected ? 0 : 1;
          }) == 0);
  }
}
#endif

TEST_CASE("mixed batches with damage are the same whatever the threads") {
  const PackedImages images;
  for (const std::uint64_t record : {3u, 20u, 21u}) damage_record(images.path(), record);
  LoaderOptions options = small_options();
  options.transform.push_back(MixUp{1});
  options.transform.push_back(CutMix{1});
  options.on_damage = OnDamage::skip;
  std::optional<std::vector<SeenBatch>> expected;
  for (const unsigned threads : {1u, 4u}) {
    options.threads = threads;
    for (const ReadMode mode : {ReadMode::mapped, ReadMode::unbuffered}) {
      options.read = mode;
      Loader loader(images.open(), options);
      const std::vector<SeenBatch> seen = look_at(loader.epoch());
      if (!expected) expected = seen;
      CHECK(seen == *expected);
      CHECK(loader.stats().damaged == 3);
    }
  }
}

}  // namespace

}  // namespace imgpack
