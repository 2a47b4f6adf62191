// Bytes of a registered file on their way to the device, by copy engines and by the kernel.
#include "reader/gpu/record_transfer.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "mmap/mapped_file.h"
#include "reader/gpu/carver.h"
#include "tests/gpu/gpu_testing.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

constexpr std::byte kUntouched{0xA5};
constexpr std::size_t kFew = 5;  // pieces; longer lists have large ones

/// Brings pieces of `file` and checks them, and all bytes of the device's memory beside them.
void check_transfer(RecordTransfer& transfer, ProgramBuffer& program, std::span<const std::byte> file,
                    const RegisteredFiles& files, const std::vector<std::size_t>& sizes, bool copies,
                    std::mt19937& random) {
  const Stream stream = Stream::create();
  std::vector<std::span<const std::byte>> pieces;
  Carver counted;
  for (const std::size_t size : sizes) {
    const std::span<const std::byte> piece = file.subspan(random() % (file.size() - size), size);
    if (files.device_view(piece) == nullptr) continue;  // windows that the device does not see as neighbours
    pieces.push_back(piece);
    counted.take_like(piece.data(), size);
  }
  const DeviceBuffer memory(counted.used());
  fill_device(memory, static_cast<std::uint8_t>(kUntouched));
  transfer.clear();
  program.reset();
  Carver carver(memory.data());
  std::vector<std::size_t> offsets;
  for (const std::span<const std::byte> piece : pieces) {
    const std::byte* const source = files.device_view(piece);
    std::byte* const place = carver.take_like(source, piece.size());
    offsets.push_back(static_cast<std::size_t>(place - memory.data()));
    transfer.add({source, piece.size()}, place, copies ? &files : nullptr);
  }
  CHECK(pieces.size() * 2 >= sizes.size());
  if (!copies) CHECK_FALSE(transfer.has_copies());
  if (copies && sizes.size() > kFew) CHECK(transfer.has_copies());
  transfer.queue_copies(stream.get());
  transfer.write(program);
  program.settle();
  program.upload(stream.get());
  transfer.queue_gather(program, 0, stream.get());
  stream.synchronize();

  std::vector<std::byte> made = from_device(memory);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CAPTURE(pieces[i].size());
    CHECK(std::memcmp(made.data() + offsets[i], pieces[i].data(), pieces[i].size()) == 0);
    const std::size_t begin = offsets[i] / kGatherUnit * kGatherUnit;
    const std::size_t end = (offsets[i] + pieces[i].size() + kGatherUnit - 1) / kGatherUnit * kGatherUnit;
    std::fill(made.begin() + static_cast<std::ptrdiff_t>(begin), made.begin() + static_cast<std::ptrdiff_t>(end),
              kUntouched);
  }
  CHECK(std::ranges::all_of(made, [](std::byte b) { return b == kUntouched; }));
}

}  // namespace

TEST_CASE("record transfer: pieces of any size and alignment, across windows, batch after batch") {
  TempDir dir;
  write_file(dir / "file", random_bytes(3 << 20, 11));
  const MappedFile file = MappedFile::open(dir / "file");
  const auto window = 16 * static_cast<std::uint64_t>(::getpagesize());
  const std::vector<std::span<const std::byte>> mappings = {file.bytes()};
  const auto files = RegisteredFiles::open(mappings, {.transport = DeviceTransport::zero_copy, .window_bytes = window});
  for (const bool copies : {false, true}) {
    if (copies && !has_batched_copies()) {
      MESSAGE("this driver does not take the copies of a batch by one call");
      continue;
    }
    RecordTransfer transfer;
    ProgramBuffer program;
    std::mt19937 random(5);
    check_transfer(transfer, program, file.bytes(), files, {}, copies, random);
    check_transfer(transfer, program, file.bytes(), files, {1, 15, 16, 17, 100}, copies, random);
    for (int round = 0; round < 5; ++round) {
      check_transfer(transfer, program, file.bytes(), files,
                     {8000, 8176, 8191, 8192, 8193, 9000, 30'000, 60'000, 100'000, 1'000'000, 3}, copies, random);
    }
  }
}
