#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

#include "imgpack/error.h"
#include "packer/sources/imagenet_devkit.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto ids = imgpack::parse_ground_truth(text, "ground_truth.txt");
    // What was read is what stands there: written out again, it reads the same.
    std::string again;
    for (const auto id : ids) again += std::to_string(id) + "\n";
    if (std::count(ids.begin(), ids.end(), 0u) != 0) std::terminate();
    if (imgpack::parse_ground_truth(again, "again") != ids) std::terminate();
    if (ids.size() > size) std::terminate();
  } catch (const imgpack::Error&) {
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const std::string_view text : {"490\n361\n171\n822\n", "1\r\n1000\r\n3", "", "\n\n", "4294967295\n1\n\n"}) {
    const auto bytes = as_bytes(text);
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}
