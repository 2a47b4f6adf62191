// Decoding and transcoding on any bytes: both must return; what is transcoded has the same coefficients, and transcodes
// again to the same bytes.
#include <algorithm>
#include <cstdlib>

#include "codec/image_header.h"
#include "codec/jpeg/libjpeg.h"
#include "tests/support/fuzz.h"
#include "tests/support/images.h"

namespace {

using namespace imgpack;

constexpr std::uint64_t kMaxPixels = 1u << 14;

class CountRows final : public RowSink {
 public:
  void take(std::uint32_t y, ConstRgbView rows) override {
    if (y != count) std::abort();
    count += rows.height;
  }
  std::uint32_t count = 0;
};

void check(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  CountRows rows;
  const JpegResult decoded = decode_jpeg_rows(file, kMaxPixels, rows);
  check(decoded.ok() == decoded.reason.empty());
  if (decoded.ok()) check(rows.count == read_image_header(file).header.height);

  ByteBuffer out;
  if (!transcode_jpeg(file, kMaxPixels, {.restart_markers = size % 2 == 0}, out).ok()) return 0;
  check(same_coefficients(file, out.bytes()));
  ByteBuffer again;
  check(transcode_jpeg(out.bytes(), kMaxPixels, {.restart_markers = size % 2 == 0}, again).ok());
  check(std::equal(out.bytes().begin(), out.bytes().end(), again.bytes().begin(), again.bytes().end()));
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  return {make_jpeg(17, 13, 1), make_jpeg(33, 9, 2, {.quality = 30, .progressive = true}),
          make_jpeg(9, 24, 3, {.quality = 100, .gray = true}),
          make_jpeg(24, 24, 4, {.quality = 50, .gray = true, .progressive = true})};
}
