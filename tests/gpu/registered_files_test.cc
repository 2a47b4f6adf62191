// Mappings of real stores, registered with CUDA and read by a kernel.
#include "reader/gpu/registered_files.h"

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/each_format.h"
#include "mmap/mapped_file.h"
#include "reader/gpu/kernels/gather.h"
#include "tests/gpu/gpu_testing.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

const auto kPage = static_cast<std::uint64_t>(::getpagesize());
constexpr auto kZeroCopy = DeviceTransport::zero_copy;

/// What a kernel reads through the registration.
std::vector<std::byte> read_by_device(const RegisteredFiles& files, std::span<const std::byte> range) {
  const std::byte* const source = files.device_view(range);
  REQUIRE(source != nullptr);
  const DeviceBuffer out(range.size() + kGatherUnit);
  const std::size_t shift = gather_shift(source);
  const std::vector<GatherRange> ranges = {{source, out.data() + shift, range.size()}};
  std::vector<GatherPiece> pieces;
  append_pieces(ranges, pieces);
  const DeviceBuffer device_ranges = to_device(ranges);
  const DeviceBuffer device_pieces = to_device(pieces);
  launch_gather(reinterpret_cast<const GatherRange*>(device_ranges.data()),
                reinterpret_cast<const GatherPiece*>(device_pieces.data()), static_cast<std::uint32_t>(pieces.size()),
                nullptr);
  const std::vector<std::byte> all = from_device(out);
  return {all.begin() + static_cast<std::ptrdiff_t>(shift),
          all.begin() + static_cast<std::ptrdiff_t>(shift + range.size())};
}

bool device_reads(const RegisteredFiles& files, std::span<const std::byte> range) {
  return read_by_device(files, range) == std::vector<std::byte>(range.begin(), range.end());
}

/// Whether CUDA knows the memory at that address.
bool is_registered(const std::byte* address) {
  unsigned flags = 0;
  const bool known = cudaHostGetFlags(&flags, const_cast<std::byte*>(address)) == cudaSuccess;
  (void)cudaGetLastError();
  return known;
}

MappedFile file_of(const TempDir& dir, std::size_t bytes) {
  write_file(dir / "file", random_bytes(bytes, 11));
  return MappedFile::open(dir / "file");
}

}  // namespace

TEST_CASE("records of every format are read in place") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 25, .payload_size = 7001});
    write_dataset(output(dir, format), dataset, {.format = format});
    const auto store = open_store(output(dir, format));
    const auto files = RegisteredFiles::open(store->mappings(), {.transport = kZeroCopy});
    CHECK(files.reason().starts_with("zero_copy"));
    CHECK(files.registered_bytes() == files.total_bytes());
    for (std::uint64_t i = 0; i < store->size(); ++i) CHECK(device_reads(files, store->bytes(i).payload));
  });
}

TEST_CASE("windows: ranges within them and across their edges") {
  TempDir dir;
  const MappedFile file = file_of(dir, 10 * kPage + 123);
  const std::vector<HostRange> mappings = {file.bytes()};
  const auto files = RegisteredFiles::open(mappings, {.window_bytes = 2 * kPage});
  REQUIRE(files.registered_bytes() == 11 * kPage);
  CHECK(device_reads(files, file.bytes().subspan(5, 100)));
  CHECK(device_reads(files, file.bytes().subspan(10 * kPage, 123)));
  // An address across windows is given only if it is right.
  const auto across = file.bytes().subspan(2 * kPage - 77, 3 * kPage);
  if (files.device_view(across) != nullptr) CHECK(device_reads(files, across));
}

TEST_CASE("a limit leaves the rest of the file unregistered") {
  TempDir dir;
  const MappedFile file = file_of(dir, 10 * kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  const RegistrationOptions options{.limit_bytes = 5 * kPage + 1, .window_bytes = 2 * kPage};
  const auto files = RegisteredFiles::open(mappings, options);
  CHECK(files.registered_bytes() == 5 * kPage);
  CHECK(files.reason().find("pinned for the rest") != std::string::npos);
  CHECK(device_reads(files, file.bytes().subspan(4 * kPage, kPage)));
  CHECK(files.device_view(file.bytes().subspan(4 * kPage, kPage + 1)) == nullptr);
  CHECK(files.device_view(file.bytes().subspan(7 * kPage, 1)) == nullptr);

  RegistrationOptions demanding = options;
  demanding.transport = kZeroCopy;
  CHECK(code_of([&] { RegisteredFiles::open(mappings, demanding); }) == ErrorCode::unsupported);
  // What the failed try registered is shared with, not taken from, the one above.
  CHECK(device_reads(files, file.bytes().subspan(0, kPage)));
}

TEST_CASE("two loaders over one mapping, and the last one unregisters") {
  TempDir dir;
  const MappedFile file = file_of(dir, 3 * kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  {
    auto first = RegisteredFiles::open(mappings, {.transport = kZeroCopy});
    auto second = RegisteredFiles::open(mappings, {.transport = kZeroCopy});
    CHECK(device_reads(first, file.bytes()));
    first = RegisteredFiles();
    CHECK(is_registered(file.bytes().data()));
    CHECK(device_reads(second, file.bytes()));
    const RegisteredFiles moved = std::move(second);
    CHECK(device_reads(moved, file.bytes()));
  }
  CHECK_FALSE(is_registered(file.bytes().data()));
  const auto again = RegisteredFiles::open(mappings, {.transport = kZeroCopy});
  CHECK(device_reads(again, file.bytes()));
}

TEST_CASE("two mappings of one file") {
  TempDir dir;
  const MappedFile first = file_of(dir, 3 * kPage);
  const MappedFile second = MappedFile::open(dir / "file");
  const std::vector<HostRange> one = {first.bytes()};
  const std::vector<HostRange> other = {second.bytes()};
  const auto files = RegisteredFiles::open(one, {.transport = kZeroCopy});
  const auto others = RegisteredFiles::open(other, {.transport = kZeroCopy});
  CHECK(device_reads(files, first.bytes()));
  CHECK(device_reads(others, second.bytes()));
  CHECK(files.device_view(second.bytes()) == nullptr);
}

TEST_CASE("memory that somebody else has registered is left to them") {
  TempDir dir;
  const MappedFile file = file_of(dir, 3 * kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  void* const begin = const_cast<std::byte*>(file.bytes().data());
  REQUIRE(cudaHostRegister(begin, 3 * kPage, cudaHostRegisterMapped | cudaHostRegisterReadOnly) == cudaSuccess);
  const auto files = RegisteredFiles::open(mappings, {});
  CHECK(files.registered_bytes() == 0);
  CHECK(files.reason().starts_with("pinned: CUDA refuses"));
  CHECK(code_of([&] { RegisteredFiles::open(mappings, {.transport = kZeroCopy}); }) == ErrorCode::unsupported);
  CHECK(cudaHostUnregister(begin) == cudaSuccess);
}

TEST_CASE("a truncated file is no crash") {
  TempDir dir;
  const MappedFile file = file_of(dir, 8 * kPage);
  std::filesystem::resize_file(dir / "file", kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  const auto files = RegisteredFiles::open(mappings, {.window_bytes = kPage});
  CHECK(files.registered_bytes() <= kPage);
  CHECK(files.reason().find("zero_copy: all") == std::string::npos);
}

TEST_CASE("a child of fork() leaves the parent's registrations alone") {
  TempDir dir;
  const MappedFile file = file_of(dir, 3 * kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  auto files = RegisteredFiles::open(mappings, {.transport = kZeroCopy});
  const pid_t child = ::fork();
  if (child == 0) {
    files = RegisteredFiles();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(device_reads(files, file.bytes()));
}

TEST_CASE("nothing to register") {
  const auto files = RegisteredFiles::open({}, {.transport = kZeroCopy});
  CHECK(files.registered_bytes() == 0);
  CHECK(files.device_view({}) == nullptr);
  TempDir dir;
  const MappedFile file = file_of(dir, kPage);
  const std::vector<HostRange> mappings = {file.bytes()};
  const auto pinned = RegisteredFiles::open(mappings, {.transport = DeviceTransport::pinned});
  CHECK(pinned.reason() == "pinned: asked for");
  CHECK_FALSE(is_registered(file.bytes().data()));
}
