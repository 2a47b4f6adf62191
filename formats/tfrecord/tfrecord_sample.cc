// Writes and lists TFRecords for tests by other programs.
//   tfrecord_sample write OUT     a small dataset
//   tfrecord_sample list FILE     a line a record: key, label, class, width, height, codec, bytes, XXH3-64,
//   tab-separated
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"

int main(int argc, char** argv) {
  using namespace imgpack;
  if (argc != 3) return 2;
  try {
    if (std::string_view(argv[1]) == "write") {
      testing::write_dataset(argv[2], testing::make_dataset(7));
      return 0;
    }
    const auto store = open_store(argv[2]);
    for (std::uint64_t i = 0; i < store->size(); ++i) {
      const RecordMeta meta = store->meta(i);
      const RecordBytes bytes = store->bytes(i);
      const auto& classes = store->info().classes;
      const bool named = meta.label >= 0 && static_cast<std::size_t>(meta.label) < classes.size();
      fmt::print("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:016x}\n", store->key(i), meta.label,
                 named ? classes[static_cast<std::size_t>(meta.label)].name : "", meta.width, meta.height,
                 to_string(meta.codec), bytes.payload.size(), record_checksum(bytes.payload, bytes.segments));
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
