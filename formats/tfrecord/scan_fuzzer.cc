// A whole TFRecord without index. The input is a row of pieces (u16 size, bytes) that are framed with right CRCs, and
// what is left over at the end as it is: so that mutations get past the CRCs, and through them.
#include <algorithm>
#include <cstdlib>

#include "formats/tfrecord/example.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/tfrecord_format.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

namespace {

using imgpack::testing::as_text;

std::string file_of(std::span<const std::byte> input) {
  std::string file;
  while (input.size() >= 2) {
    const std::size_t size = imgpack::load_le<std::uint16_t>(input.data());
    if (size > input.size() - 2) break;
    file += imgpack::testing::frame_of(std::string(as_text(input.subspan(2, size))));
    input = input.subspan(2 + size);
  }
  return file + std::string(as_text(input));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const imgpack::testing::TempDir folder;
  const std::filesystem::path path = folder / "fuzz.tfrecord";
  imgpack::testing::overwrite_file(path, imgpack::testing::as_bytes(file_of(std::as_bytes(std::span(data, size)))));
  std::unique_ptr<imgpack::StoreReader> store;
  try {
    store = imgpack::open_tfrecord(path);
  } catch (const imgpack::Error& error) {
    if (error.code() != imgpack::ErrorCode::damaged && error.code() != imgpack::ErrorCode::unsupported) std::abort();
    return 0;
  }
  // What opens is whole: everything can be read, every key is found.
  for (std::uint64_t record = 0; record < store->size(); ++record) {
    store->bytes(record);
    if (store->find(store->key(record)) != record) std::abort();
    for (std::size_t field = 0; field < store->info().fields.size(); ++field) store->field(record, field);
  }
  imgpack::testing::DamageList found;
  store->check_container(found);
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  const auto pieces_of = [](const TestDataset& dataset) {
    const TempDir folder;
    write_dataset(folder / "seed", dataset);
    const std::vector<std::byte> file = read_file(folder / "seed");
    std::vector<std::byte> seed;
    for (std::uint64_t offset = 0; offset < file.size();) {
      Frame frame;
      if (read_frame(file, offset, frame) != FrameStatus::ok) std::abort();
      append_le(seed, static_cast<std::uint16_t>(frame.data.size()));
      seed.insert(seed.end(), frame.data.begin(), frame.data.end());
      offset += frame.size;
    }
    return seed;
  };
  std::vector<std::byte> raw;
  for (const char c : frame_of(std::string("raw"))) raw.push_back(static_cast<std::byte>(c));
  return {pieces_of(make_dataset(2)), pieces_of(make_plain_dataset(3)), raw};
}
