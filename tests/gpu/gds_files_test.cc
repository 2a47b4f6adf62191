// cuFile where it is installed; where it is not, the error that says so.
#include "reader/gpu/gds_files.h"

#include <exception>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/gpu/gpu_testing.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

/// Nothing where this system has no cuFile, or where it can't read `path`, having checked that the error tells.
std::unique_ptr<GdsFiles> open_if_usable(const StoreReader& store) {
  try {
    auto files = GdsFiles::open();
    const DeviceBuffer out(1 << 20);
    PayloadPlace place = store.place(0);
    place.size = 1;
    files->read(place, out.data(), 0);
    return files;
  } catch (const Error& error) {
    const bool expected =
        error.code() == ErrorCode::unsupported
            ? error.message().find("GPUDirect Storage") != std::string::npos
            : error.code() == ErrorCode::io && error.message().find("cuFile error") != std::string::npos;
    CHECK_MESSAGE(expected, error.what());
    MESSAGE(error.message());
    return nullptr;
  }
}

}  // namespace

TEST_CASE("payloads go from the file into device memory, by several threads") {
  TempDir dir;
  const TestDataset dataset = make_dataset({.records = 40, .payload_size = 9000});
  write_dataset(dir / "out.rec", dataset, {});
  const auto store = open_store(dir / "out.rec");
  const auto files = open_if_usable(*store);
  if (!files) return;
  constexpr std::size_t kRoom = 16'384;
  const DeviceBuffer out(store->size() * kRoom);
  const auto registered = files->register_buffer(out.data(), out.size());
  std::vector<std::exception_ptr> failures(4);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < failures.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        for (std::uint64_t i = t; i < store->size(); i += failures.size()) {
          files->read(store->place(i), out.data(), i * kRoom);
        }
      } catch (...) {
        failures[t] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  const std::vector<std::byte> all = from_device(out);
  for (std::uint64_t i = 0; i < store->size(); ++i) {
    const auto payload = store->bytes(i).payload;
    CHECK(std::equal(payload.begin(), payload.end(), all.begin() + static_cast<std::ptrdiff_t>(i * kRoom)));
  }
}

TEST_CASE("a file that was replaced, and one that ends early") {
  TempDir dir;
  write_dataset(dir / "out.rec", make_dataset({.records = 4}), {});
  const auto store = open_store(dir / "out.rec");
  const auto files = open_if_usable(*store);
  if (!files) return;
  const DeviceBuffer out(1 << 20);
  PayloadPlace place = store->place(1);
  ++place.inode;
  CHECK(code_of([&] { files->read(place, out.data(), 0); }) == ErrorCode::io);
  place = store->place(1);
  place.offset = std::filesystem::file_size(dir / "out.rec") - 10;
  place.size = 100;
  CHECK(code_of([&] { files->read(place, out.data(), 0); }) == ErrorCode::damaged);
}
