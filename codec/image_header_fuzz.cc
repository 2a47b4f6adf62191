// read_image_header() on any bytes: it must return, within time linear in the input, and say something sensible.
#include <cstdlib>

#include "codec/header_samples.h"
#include "codec/image_header.h"
#include "tests/support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace imgpack;
  const ImageHeaderResult result = read_image_header(std::as_bytes(std::span(data, size)));
  const ImageHeader& header = result.header;
  if (result.status == ImageHeaderStatus::ok) {
    const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
    if (pixels == 0 || pixels > kDefaultMaxPixels || header.codec == Codec::unknown) std::abort();
    if (header.channels < 1 || header.channels > 4 || !result.reason.empty()) std::abort();
  } else if (result.reason.empty() || (result.status == ImageHeaderStatus::empty) != (size == 0)) {
    std::abort();
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (HeaderSample& sample : header_samples()) seeds.push_back(std::move(sample.bytes));
  return seeds;
}
