// Decoding and transcoding on any bytes: both must return; what is transcoded has the same coefficients, and transcodes
// again to the same bytes.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "codec/image_header.h"
#include "codec/jpeg/libjpeg.h"
#include "tests/support/files.h"
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
  const ImageResult decoded = decode_jpeg_rows(file, kMaxPixels, rows);
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

namespace {

// Made with cjpeg and Pillow.
constexpr std::string_view kArithmetic =
    "ffd8ffe000104a46494600010100000100010000ffdb0083100028001c001e0023001e00190028002300210023002d002b00280030003c0064"
    "0041003c00370037003c007b0058005d004900640091008000990096008f0080008c008a00a000b400e600c300a000aa00da00ad008a008c00"
    "c8011100cb00da00ee00f5010201040102009b00c1011b012f011800fa012c00e600fd010200f8ffdb0043012b2d2d3c353c76414176f8a58c"
    "a5f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8f8ffc900110800"
    "09000c03012200021101031101ffcc000a0010100501101105ffda000c03010002110311003f00dd613499fda2019e33982cf7b22c137c0448"
    "fe783e2f0150f0c1956ab07581989001c080ffd9";
constexpr std::string_view kArithmeticProgressive =
    "ffd8ffe000104a46494600010100000100010000ffdb0083100028001c001e0023001e00190028002300210023002d002b00280030003c0064"
    "0041003c00370037003c007b0058005d004900640091008000990096008f0080008c008a00a000b400e600c300a000aa00da00ad008a008c00"
    "c8011100cb00da00ee00f5010201040102009b00c1011b012f011800fa012c00e600fd010200f8ffca000b080009000901011100ffcc000400"
    "10ffda0008010100000001b5b5fa20ffcc00041005ffda00080101000105021e240eda80ffcc00041005ffda0008010100063f02c0ffcc0004"
    "1005ffda0008010100013f212a167a1a7eb7bee6fdffda000801010000001018ffcc00041005ffda0008010100013f101cc2fd2123d21e97e4"
    "ffd9";
constexpr std::string_view kCmyk =
    "ffd8ffee000e41646f626500640000000000ffdb004300281c1e231e19282321232d2b28303c64413c37373c7b585d4964918099968f808c8a"
    "a0b4e6c3a0aadaad8a8cc8ffcbdaeef5ffffff9bc1fffffffaffe6fdfff8ffc000140800050009044311004d11005911004b1100ffc4001700"
    "0100030000000000000000000000000003000102ffc40026100001030205030500000000000000000001000203112104121431415152911563"
    "8193a1ffda000e0443004d0059004b00003f00bcf9646e1882e0fb56bb24735f0c00092a46e48b9493c51c196363680f35478c9dd0628b1966"
    "8e0587c744de951f79f08b52ee9faa69c77bbcaceb9dee7da57fffd9";

std::vector<std::byte> encoded(Subsampling subsampling, unsigned restart_mcus) {
  RgbImage image;
  const RgbView view = image.resize({21, 18});
  for (std::size_t i = 0; i < image.bytes().size(); ++i) view.pixels[i] = static_cast<std::uint8_t>(i * i / 7);
  ByteBuffer out;
  encode_jpeg(view, 60, subsampling, restart_mcus, out);
  return {out.bytes().begin(), out.bytes().end()};
}

}  // namespace

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  return {make_jpeg(17, 13, 1),
          make_jpeg(33, 9, 2, {.quality = 30, .progressive = true}),
          make_jpeg(9, 24, 3, {.quality = 100, .gray = true}),
          make_jpeg(24, 24, 4, {.quality = 50, .gray = true, .progressive = true}),
          encoded(Subsampling::s444, 2),
          encoded(Subsampling::s422, 0),
          bytes_from_hex(kArithmetic),
          bytes_from_hex(kArithmeticProgressive),
          bytes_from_hex(kCmyk)};
}
