// make_wrong_records OUT: a packed file whose checksums are all right, but not its images. For tests of what only
// `verify --decode` finds. The keys say what is wrong.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "codec/decode_samples.h"
#include "imgpack/store.h"

namespace {

using namespace imgpack;
using namespace imgpack::testing;

RecordSample sample_named(std::string_view name) {
  for (const RecordSample& sample : record_samples()) {
    if (sample.name == name) return sample;
  }
  std::abort();
}

RecordSample changed(std::string_view name, const std::string& key, const std::function<void(RecordSample&)>& change) {
  RecordSample sample = sample_named(name);
  sample.name = key;
  change(sample);
  return sample;
}

std::vector<RecordSample> wrong_records() {
  const auto nothing = [](RecordSample&) {};
  const RecordSample other = sample_named("another jpeg with index");
  return {
      changed("jpeg with index", "good.JPEG", nothing),
      changed("jpeg with index", "flipped bit.JPEG",
              [](RecordSample& sample) { sample.payload[sample.payload.size() * 3 / 4] ^= std::byte{4}; }),
      changed("jpeg with index", "index of another file.JPEG",
              [&](RecordSample& sample) { sample.segments = other.segments; }),
      changed("jpeg with index", "index cut.JPEG", [](RecordSample& sample) { sample.segments.pop_back(); }),
      changed("jpeg", "wrong size.JPEG", [](RecordSample& sample) { ++sample.meta.width; }),
      changed("jpeg", "half.JPEG", [](RecordSample& sample) { sample.payload.resize(sample.payload.size() / 2); }),
      changed("raw", "raw too short", [](RecordSample& sample) { sample.payload.pop_back(); }),
      changed("raw zstd", "zstd cut", [](RecordSample& sample) { sample.payload.pop_back(); }),
      changed("png", "half.png", [](RecordSample& sample) { sample.payload.resize(sample.payload.size() / 2); }),
      changed("raw zstd", "good zstd", nothing),
      changed("png", "good.png", nothing),
  };
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::vector<RecordSample> records = wrong_records();
  const auto writer = StoreWriter::create(argv[1], {}, {.format = Format::rec, .expected_records = records.size()});
  for (const RecordSample& sample : records) {
    Record record;
    record.key = sample.name;
    record.meta = sample.meta;
    record.payload = sample.payload;
    record.segments = sample.segments;
    record.describe();
    writer->append(record);
  }
  writer->finish();
  return 0;
}
