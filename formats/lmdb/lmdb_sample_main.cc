// Writes a dataset and what is in it as plain text, for tests with other programs' LMDB readers.
//   lmdb_sample OUT.lmdb OUT.json
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "formats/lmdb/sample_data.h"
#include "tests/support/files.h"

namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace imgpack::testing;
  if (argc != 3) return 2;
  try {
    const Sample sample = rich_sample(false);
    write_sample(argv[1], sample);
    std::string json;
    for (const SampleRecord& record : sample.records) {
      json += fmt::format(
          "{}\n{{\"payload\": \"{}\", \"key\": \"{}\", \"segments\": \"{}\", \"label\": {}, \"width\": {}}}",
          json.empty() ? "" : ",", hex(record.payload), hex(as_bytes(record.key)), hex(record.segments),
          record.meta.label, record.meta.width);
    }
    write_file(argv[2], "[" + json + "]\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
