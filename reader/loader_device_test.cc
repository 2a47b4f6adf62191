// Which batches a loader delivers that a device makes: those of the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "imgpack/loader.h"
#include "reader/loader_internals.h"
#include "reader/loader_testing.h"
#include "reader/pipeline/host_batch_device_testing.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::code_of;
using testing::damage_record;
using testing::error_of;
using testing::HostBatchDevice;
using testing::HostDeviceLog;
using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::small_options;

Loader on_device(const Dataset& data, LoaderOptions options, HostDeviceLog& log) {
  options.device = "cuda:3";
  return LoaderInternals::with_device(
      data, options, [&log](const WorkPlan& plan) { return std::make_unique<HostBatchDevice>(plan, log); });
}

bool labels_agree(const Batch& batch) {
  return std::ranges::equal(batch.labels(), batch.device_labels()) &&
         std::ranges::equal(batch.mask(), batch.device_mask()) &&
         std::ranges::equal(batch.soft_labels(), batch.device_soft_labels());
}

/// An epoch, whose batches have the same labels on the device as in host memory.
std::vector<SeenBatch> look_at_device(Loader& loader) {
  std::vector<SeenBatch> seen;
  Epoch epoch = loader.epoch();
  for (const Batch& batch : epoch) {
    CHECK(batch.device() == Device{.type = Device::Type::cuda, .index = 3});
    CHECK(labels_agree(batch));
    seen.push_back(look_at(batch));
  }
  return seen;
}

std::vector<SeenBatch> on_cpu(const Dataset& data, const LoaderOptions& options) {
  Loader loader(data, options);
  return look_at(loader.epoch());
}

TEST_CASE("a device makes the batches of the CPU, whatever it leaves to the host") {
  const PackedImages images;
  const Dataset data = images.open();
  for (const DType dtype : {DType::f32, DType::f16}) {
    LoaderOptions options = small_options();
    options.dtype = dtype;
    options.layout = dtype == DType::f16 ? Layout::nhwc : Layout::nchw;
    const std::vector<SeenBatch> expected = on_cpu(data, options);
    for (const std::size_t host_every : {0u, 1u, 3u}) {
      for (const ReadMode mode : {ReadMode::mapped, ReadMode::unbuffered}) {
        for (const unsigned threads : {1u, 4u}) {
          CAPTURE(host_every);
          CAPTURE(to_string(mode));
          CAPTURE(threads);
          options.read = mode;
          options.threads = threads;
          options.prefetch_batches = threads;
          options.verify_checksums = mode == ReadMode::unbuffered;
          HostDeviceLog log;
          log.host_every = host_every;
          Loader loader = on_device(data, options, log);
          CHECK(look_at_device(loader) == expected);
          CHECK(look_at_device(loader) != expected);
          CHECK(log.wrong == 0);
          CHECK(log.most_jobs <= static_cast<int>(threads));
        }
      }
    }
  }
}

TEST_CASE("without damage and mixing a device is asked once a batch") {
  const PackedImages images;
  HostDeviceLog log;
  log.host_every = 4;
  LoaderOptions options = small_options();
  options.prefetch_next_epoch = false;
  Loader loader = on_device(images.open(), options, log);
  CHECK(look_at_device(loader).size() == 7);
  CHECK(log.submits == 7);
  CHECK(log.waits == 7);
  CHECK(log.repairs == 0);
  const LoaderStats stats = loader.stats();
  CHECK(to_string(stats.device) == "cuda:3");
  CHECK(stats.transport == "a host that plays a device");
  CHECK(stats.samples == PackedImages::kTrain);
  CHECK(stats.host_samples == 13);  // 2 of each 8, and 1 of 3
  CHECK(stats.device_samples == PackedImages::kTrain - 13);
  CHECK(stats.device_seconds == 7 * 0.25);
}

TEST_CASE("a device is told where records are on disk if it is to read them there") {
  const PackedImages images;
  for (const Transport transport : {Transport::automatic, Transport::pinned, Transport::gds}) {
    HostDeviceLog log;
    LoaderOptions options = small_options();
    options.prefetch_next_epoch = false;
    options.transport = transport;
    Loader loader = on_device(images.open(), options, log);
    CHECK(look_at_device(loader).size() == 7);
    CHECK(log.files == (transport == Transport::gds ? static_cast<int>(PackedImages::kTrain) : 0));
    CHECK(log.wrong == 0);
  }
}

TEST_CASE("a device mixes as the CPU does, on any number of ranks") {
  const PackedImages images;
  const Dataset data = images.open();
  for (const Augmentation& mixing : {Augmentation(MixUp{0.4}), Augmentation(CutMix{1})}) {
    LoaderOptions options = small_options(0);
    options.global_batch_size = 10;
    options.prefetch_next_epoch = false;
    options.transform.push_back(mixing);
    options.world_size = 3;
    for (options.rank = 0; options.rank < 3; ++options.rank) {
      CAPTURE(options.rank);
      HostDeviceLog log;
      log.host_every = 3;
      Loader loader = on_device(data, options, log);
      const std::vector<SeenBatch> seen = look_at_device(loader);
      CHECK(seen == on_cpu(data, options));
      CHECK(log.submits == static_cast<int>(seen.size()));
      CHECK(log.repairs == log.submits);    // mixing alone: the labels were known before
      CHECK(log.waits == 2 * log.submits);  // also for what mixing has queued
      CHECK(log.wrong == 0);
    }
  }
}

TEST_CASE("damage that a device finds stops the epoch where its batch is due, or is left out") {
  const PackedImages images;
  for (const std::uint64_t record : {3u, 20u, 21u}) damage_record(images.path(), record);
  const Dataset data = images.open();
  for (const bool mixed : {false, true}) {
    for (const std::size_t host_every : {0u, 1u, 2u}) {
      CAPTURE(mixed);
      CAPTURE(host_every);
      LoaderOptions options = small_options();
      options.sampling.shuffle = Shuffle::none;
      if (mixed) options.transform.push_back(MixUp{1});
      HostDeviceLog log;
      log.host_every = host_every;

      Loader stopping = on_device(data, options, log);
      const Error error = error_of([&] { look_at(stopping.epoch()); });
      CHECK(error.code() == ErrorCode::damaged);
      CHECK(error.place().record == 3);
      CHECK(error.place().offset == data.store().place(3).offset);
      CHECK(error.message().find(std::string(data.store().key(3))) != std::string::npos);
      CHECK(stopping.state().samples == 0);

      options.on_damage = OnDamage::skip;
      Loader expected(data, options);
      Loader skipping = on_device(data, options, log);
      CHECK(look_at_device(skipping) == look_at(expected.epoch()));
      CHECK(skipping.stats().damaged == 3);
      std::vector<std::optional<std::uint64_t>> damaged;
      for (const Damage& item : skipping.damage()) damaged.push_back(item.record);
      CHECK(damaged == std::vector<std::optional<std::uint64_t>>{3, 20, 21});
      CHECK(log.wrong == 0);
    }
  }
}

TEST_CASE("a device's batch of nothing but damage is black and does not count") {
  const PackedImages images;
  for (const std::uint64_t record : {0u, 1u}) damage_record(images.path(), record);
  LoaderOptions options = small_options(2);
  options.sampling.shuffle = Shuffle::none;
  options.on_damage = OnDamage::skip;
  options.transform = {Resize{0, 24}};
  options.dtype = DType::u8;
  HostDeviceLog log;
  Loader loader = on_device(images.open(), options, log);
  const Batch batch = *loader.epoch().next();
  CHECK(batch.skipped() == 2);
  CHECK(labels_agree(batch));
  CHECK(std::ranges::all_of(batch.device_mask(), [](std::uint8_t value) { return value == 0; }));
  CHECK(std::ranges::all_of(batch.images(), [](std::byte value) { return value == std::byte{}; }));
}

TEST_CASE("a run goes on in mid-epoch on a device as on the CPU") {
  const PackedImages images;
  const Dataset data = images.open();
  const std::vector<SeenBatch> expected = on_cpu(data, small_options());
  HostDeviceLog log;
  LoaderState state;
  {
    Loader loader = on_device(data, small_options(), log);
    Epoch epoch = loader.epoch();
    for (int i = 0; i < 3; ++i) CHECK(look_at(*epoch.next()) == expected[static_cast<std::size_t>(i)]);
    state = loader.state();
  }
  Loader loader = on_device(data, small_options(), log);
  loader.restore(state);
  CHECK(look_at_device(loader) == std::vector<SeenBatch>(expected.begin() + 3, expected.end()));
}

TEST_CASE("devices have names") {
  CHECK(device_from_name("cpu") == Device{});
  CHECK(device_from_name("cuda") == Device{.type = Device::Type::cuda});
  CHECK(device_from_name("cuda:12") == Device{.type = Device::Type::cuda, .index = 12});
  CHECK(to_string(*device_from_name("cuda")) == "cuda:0");
  CHECK(to_string(Device{}) == "cpu");
  for (const char* const name : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda: 1", "cuda1", "cuda:99999", "CPU"}) {
    CAPTURE(name);
    CHECK_FALSE(device_from_name(name));
  }
}

TEST_CASE("options of devices that make no sense are refused") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto code = [&](auto&& change) {
    LoaderOptions options = small_options();
    change(options);
    return code_of([&] { Loader loader(data, options); });
  };
  CHECK(code([](LoaderOptions& o) { o.device = "gpu"; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) { o.device = "cuda:999"; }) == ErrorCode::unsupported);
  CHECK(code([](LoaderOptions& o) { o.transport = Transport::pinned; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) { o.decode_device = "cuda:1"; }) == ErrorCode::invalid_argument);
  CHECK(code([](LoaderOptions& o) {
          o.device = "cuda";
          o.decode_device = "cpu";
        }) == ErrorCode::invalid_argument);
  CHECK(transport_from_name("zero_copy") == Transport::zero_copy);
  CHECK_FALSE(transport_from_name("fast"));
}

}  // namespace

}  // namespace imgpack
