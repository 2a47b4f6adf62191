// Any bytes as HDF5 metadata: walked from the superblock to the headers of all objects. Superblock and headers get
// right checksums first, so that changes reach what is behind them. libhdf5 itself is not under test here.
#include "formats/hdf5/metadata_check.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"
#include "tests/support/store_fixture.h"

namespace {

using namespace imgpack;

/// Makes the 4 bytes at `offset + size` the checksum of the `size` bytes before them, if they are there.
void seal(std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset || bytes.size() - offset - size < 4) return;
  store_le(bytes.data() + offset + size, hdf5::metadata_checksum(std::span(bytes).subspan(offset, size)));
}

void repair_checksums(std::vector<std::byte>& bytes) {
  constexpr std::uint64_t kSuperblock = 44;
  constexpr std::uint64_t kEndAt = 28;
  if (bytes.size() < kSuperblock + 4) return;
  store_le(bytes.data() + kEndAt, std::uint64_t{bytes.size()});
  seal(bytes, 0, kSuperblock);
  const std::string all(testing::as_text(bytes));
  for (std::size_t at = all.find("OHDR"); at != std::string::npos; at = all.find("OHDR", at + 1)) {
    if (bytes.size() - at < 16) return;
    // Flags as the files of ours have them: a size of 1, 2 or 4 bytes, nothing else.
    const auto width = std::size_t{1} << (std::to_integer<unsigned>(bytes[at + 5]) & 3);
    std::uint64_t size = load_le<std::uint32_t>(bytes.data() + at + 6);
    if (width < 4) size &= (std::uint64_t{1} << (8 * width)) - 1;
    seal(bytes, at, 6 + width + size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(begin, begin + size);
  for (const bool repair : {false, true}) {
    if (repair) repair_checksums(bytes);
    try {
      hdf5::check_metadata(bytes, "input");
    } catch (const Error&) {
    }
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  const TempDir dir;
  std::vector<std::vector<std::byte>> seeds;
  for (const bool rich : {false, true}) {
    write_dataset(dir / "a.h5", make_dataset({.records = 3, .payload_size = 50, .segments = rich, .fields = rich}),
                  {.format = Format::hdf5, .overwrite = true});
    seeds.push_back(read_file(dir / "a.h5"));
  }
  constexpr RawShape kShape{.height = 3, .width = 4};
  write_dataset(dir / "a.h5", make_dataset({.records = 3, .raw_shape = kShape}),
                {.format = Format::hdf5, .overwrite = true, .raw_shape = kShape});
  seeds.push_back(read_file(dir / "a.h5"));
  return seeds;
}
