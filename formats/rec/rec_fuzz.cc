// Any bytes as a rec file: opened, read record by record and verified. Header and section table get right checksums
// first, so that changes reach what lies behind them.
#include <cstring>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/rec/rec_file.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"
#include "tests/support/store_fixture.h"

namespace {

using namespace imgpack;

void repair_checksums(std::vector<std::byte>& bytes) {
  if (bytes.size() < rec::kHeaderBytes) return;
  const auto sections = load_le<std::uint32_t>(bytes.data() + 68);
  const auto table = load_le<std::uint64_t>(bytes.data() + 72);
  const std::uint64_t size = std::uint64_t{sections} * rec::kSectionEntryBytes;
  if (table <= bytes.size() && size <= bytes.size() - table) {
    store_le(bytes.data() + 80, checksum_of(std::span(bytes).subspan(table, size)));
  }
  store_le(bytes.data() + 32, std::uint64_t{bytes.size()});
  store_le(bytes.data() + 120, checksum_of(std::span(bytes).first(120)));
}

void read_everything(const std::filesystem::path& path) {
  const auto store = open_store(path);
  for (std::uint64_t i = 0; i < store->size(); ++i) {
    try {
      const RecordBytes bytes = store->bytes(i);
      record_checksum(bytes.payload, bytes.segments);
      store->find(store->key(i));
      for (std::size_t f = 0; f < store->info().fields.size(); ++f) checksum_of(store->field(i, f));
    } catch (const Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const testing::TempDir dir;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(begin, begin + size);
  repair_checksums(bytes);
  const auto path = dir / "input.rec";
  testing::write_file(path, bytes);
  try {
    read_everything(path);
  } catch (const Error&) {
  }
  try {
    verify(path, {.threads = 1});
  } catch (const Error&) {
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  const TempDir dir;
  std::vector<std::vector<std::byte>> seeds;
  for (const bool rich : {false, true}) {
    write_dataset(dir / "a.rec", make_dataset({.records = 3, .payload_size = 50, .segments = rich, .fields = rich}),
                  {.overwrite = true});
    seeds.push_back(read_file(dir / "a.rec"));
  }
  return seeds;
}
