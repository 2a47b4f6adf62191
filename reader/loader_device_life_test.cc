// What may happen to a loader whose batches a device makes: consumers that keep, leave, throw or fork, errors of the
// device, and its end while it works.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "imgpack/loader.h"
#include "reader/loader_internals.h"
#include "reader/loader_testing.h"
#include "reader/pipeline/host_batch_device_testing.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::code_of;
using testing::error_of;
using testing::HostBatchDevice;
using testing::HostDeviceLog;
using testing::in_child;
using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::small_options;

Loader on_device(const Dataset& data, LoaderOptions options, HostDeviceLog& log) {
  options.device = "cuda";
  return LoaderInternals::with_device(
      data, options, [&log](const WorkPlan& plan) { return std::make_unique<HostBatchDevice>(plan, log); });
}

/// Nothing of a device is left, and nobody has used it wrongly.
void check_over(const HostDeviceLog& log) {
  CHECK(log.wrong == 0);
  CHECK(log.jobs == 0);
  CHECK(log.memories == 0);
  CHECK(log.devices == 0);
}

TEST_CASE("a device's batches that are kept are never overwritten, and outlive their loader") {
  const PackedImages images;
  HostDeviceLog log;
  {
    std::vector<Batch> kept;
    std::vector<SeenBatch> seen;
    {
      Loader loader = on_device(images.open(), small_options(4), log);
      while (kept.size() < 40) {
        for (Batch& batch : loader.epoch()) {
          batch.use_on(nullptr);
          kept.push_back(batch);
          seen.push_back(look_at(batch));
        }
      }
    }
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(look_at(kept[i]) == seen[i]);
    CHECK(log.uses == static_cast<int>(kept.size()));
    CHECK(log.memories >= static_cast<int>(kept.size()));
  }
  check_over(log);
}

TEST_CASE("a device's memory is used again once nobody has it, and released before") {
  const PackedImages images;
  HostDeviceLog log;
  LoaderOptions options = small_options(4);
  options.prefetch_batches = 2;
  {
    Loader loader = on_device(images.open(), options, log);
    for (int epoch = 0; epoch < 3; ++epoch) look_at(loader.epoch());
    CHECK(log.allocations <= 4);
    CHECK(log.released >= 39);
    CHECK(log.most_jobs <= 2);
  }
  check_over(log);
}

TEST_CASE("an epoch on a device may be left early, outlived and replaced") {
  const PackedImages images;
  const auto expected = [&] {
    Loader loader(images.open(), small_options());
    return look_at(loader.epoch(5));
  }();
  HostDeviceLog log;
  log.slowness = std::chrono::milliseconds(2);
  log.host_every = 3;
  LoaderOptions options = small_options();
  options.prefetch_batches = 3;
  {
    std::optional<Loader> loader(on_device(images.open(), options, log));
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
    loader.reset();
    CHECK(look_at(std::move(epoch)) == expected);
    CHECK(log.most_jobs <= 3);  // also while those of epochs that are over have not ended
  }
  check_over(log);
}

TEST_CASE("a loader may go at any time while its device works") {
  const PackedImages images;
  const Dataset data = images.open();
  for (int batches = 0; batches < 7; ++batches) {
    for (const ReadMode mode : {ReadMode::mapped, ReadMode::unbuffered}) {
      HostDeviceLog log;
      log.slowness = std::chrono::milliseconds(3);
      std::optional<Batch> kept;
      {
        LoaderOptions options = small_options();
        options.read = mode;
        Loader loader = on_device(data, options, log);
        Epoch epoch = loader.epoch();
        for (int i = 0; i < batches; ++i) kept = epoch.next();
      }
      kept.reset();
      check_over(log);
    }
  }
}

TEST_CASE("an error of the device ends the epoch, and a later one works") {
  const PackedImages images;
  const Dataset data = images.open();
  const std::vector<SeenBatch> expected = [&] {
    Loader loader(data, small_options());
    return look_at(loader.epoch(4));
  }();
  for (int HostDeviceLog::*const failing :
       {&HostDeviceLog::failing_submit, &HostDeviceLog::failing_wait, &HostDeviceLog::failing_allocation}) {
    for (const bool mixed : {false, true}) {
      HostDeviceLog log;
      log.*failing = 2;
      {
        LoaderOptions options = small_options();
        options.prefetch_batches = 4;
        if (mixed) options.transform.push_back(MixUp{1});
        Loader loader = on_device(data, options, log);
        const Error error = error_of([&] { look_at(loader.epoch(0)); });
        CHECK(error.code() ==
              (failing == &HostDeviceLog::failing_allocation ? ErrorCode::out_of_memory : ErrorCode::io));
        CHECK(error.message().find("as it was told to") != std::string::npos);
        const std::vector<SeenBatch> seen = look_at(loader.epoch(4));
        CHECK(seen.size() == expected.size());
        if (!mixed) CHECK(seen == expected);
      }
      check_over(log);
    }
  }
}

TEST_CASE("what a device can't do when it is opened is told by the loader") {
  const PackedImages images;
  LoaderOptions options = small_options();
  options.device = "cuda:1";
  const Error error = error_of([&] {
    LoaderInternals::with_device(images.open(), options, [](const WorkPlan& plan) -> std::unique_ptr<BatchDevice> {
      throw Error(ErrorCode::unsupported, "there is no device " + std::to_string(plan.device.index));
    });
  });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(error.message() == "there is no device 1");
}

TEST_CASE("a child process is told that CUDA does not work there, and may destroy what it has of its parent") {
  const PackedImages images;
  HostDeviceLog log;
  {
    std::optional<Loader> loader(on_device(images.open(), small_options(), log));
    const std::vector<SeenBatch> expected = look_at(loader->epoch(0));
    std::optional<Epoch> epoch(loader->epoch(0));
    std::optional<Batch> batch = epoch->next();
    const auto refused = [](auto&& action) {
      try {
        action();
        return false;
      } catch (const Error& error) {
        return error.code() == ErrorCode::unsupported && error.message().find("spawn") != std::string::npos;
      }
    };
    CHECK(in_child([&] {
            if (batch->labels()[0] != static_cast<std::int64_t>(expected[0][0].label)) return 1;
            if (!refused([&] { batch->use_on(nullptr); })) return 2;
            if (!refused([&] { epoch->next(); })) return 3;
            if (epoch->next()) return 4;
            if (!refused([&] { loader->epoch(1); })) return 5;
            if (!refused([&] { loader->restore(loader->state()); })) return 6;
            if (loader->samples() != PackedImages::kTrain || loader->stats().threads != 0) return 7;
            return 0;
          }) == 0);
    CHECK(in_child([&] {
            const int memories = log.memories;
            loader.reset();
            batch.reset();
            epoch.reset();
            return log.memories == memories && log.devices == 1 ? 0 : 1;  // left alone
          }) == 0);
    CHECK(in_child([&] {
            const int memories = log.memories;
            epoch.reset();
            loader.reset();
            batch.reset();
            return log.memories == memories && log.devices == 1 ? 0 : 1;  // left alone
          }) == 0);
    std::vector<SeenBatch> seen = {look_at(*batch)};
    while (const std::optional<Batch> next = epoch->next()) seen.push_back(look_at(*next));
    CHECK(seen == expected);
  }
  check_over(log);
}

}  // namespace

}  // namespace imgpack
