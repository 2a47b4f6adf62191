// The Example decoder on anything, without CRCs in its way: views must stay inside the input, which the sanitizers
// watch.
#include <cstdlib>

#include "formats/tfrecord/example.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

namespace {

using imgpack::ExampleDecoder;
using imgpack::ExampleStatus;
using imgpack::FieldSpec;
using imgpack::FieldType;

const std::vector<FieldSpec>& fields() {
  static const std::vector<FieldSpec> kFields = {
      {"id", FieldType::int64, {}}, {"box", FieldType::float32, {2, 2}}, {"note", FieldType::bytes, {}}};
  return kFields;
}

unsigned sum(std::span<const std::byte> bytes) {
  unsigned total = 0;
  for (const std::byte byte : bytes) total += std::to_integer<unsigned>(byte);
  return total;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const bool with_fields : {false, true}) {
    ExampleDecoder decoder(with_fields ? fields() : std::vector<FieldSpec>());
    const std::span<const std::byte> input = std::as_bytes(std::span(data, size));
    if (decoder.decode(input) != ExampleStatus::ok) continue;
    const imgpack::DecodedExample& example = decoder.decoded();
    volatile unsigned touched = sum(example.payload) + sum(example.segments);
    for (const std::string_view text : {example.key.value_or(""), example.class_text, example.class_synset,
                                        example.split.value_or(""), example.dataset})
      touched = touched + sum(std::as_bytes(std::span(text)));
    for (const std::string_view value : example.fields) touched = touched + sum(std::as_bytes(std::span(value)));
    if (example.meta.payload_size != example.payload.size() || example.fields.size() != (with_fields ? 3 : 0))
      std::abort();
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  const TestDataset dataset = make_dataset(3);
  ExampleEncoder encoder(dataset.info.fields);
  for (const TestRecord& test_record : dataset.records) {
    std::vector<std::string_view> values;
    const Record record = view_of(test_record, values);
    const auto parts = encoder.encode(record, {.class_text = "class", .split = "train", .chain = 7, .dataset = "{}"});
    std::vector<std::byte> seed(parts.head.begin(), parts.head.end());
    seed.insert(seed.end(), record.segments.begin(), record.segments.end());
    seed.insert(seed.end(), parts.middle.begin(), parts.middle.end());
    seed.insert(seed.end(), record.payload.begin(), record.payload.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}
