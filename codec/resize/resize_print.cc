// Resizes what standard input asks for, for the differential test against Pillow. A request is, in little-endian order:
// source width and height, result width and height, Interpolation, rows that are taken at a time (32-bit unsigned
// each), the box's left, top, right, bottom (32-bit floats), and the source's pixels. The answer is the result's
// pixels.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <vector>

#include "codec/resize/resizer.h"
#include "mmap/little_endian.h"

namespace {

using namespace imgpack;

bool read_exactly(void* out, std::size_t size) {
  return std::fread(out, 1, size, stdin) == size;
}

}  // namespace

int main() {
  Resizer resizer;
  std::byte head[40];
  std::vector<std::uint8_t> source;
  RgbImage result;
  while (read_exactly(head, sizeof head)) {
    const auto number = [&head](int i) { return load_le<std::uint32_t>(head + 4 * i); };
    const auto edge = [&number](int i) { return std::bit_cast<float>(number(i)); };
    const Size size = {number(0), number(1)};
    const std::uint32_t batch = number(5);
    source.resize(std::size_t{size.width} * size.height * 3);
    if (batch == 0 || !read_exactly(source.data(), source.size())) return 1;
    const RgbView out = result.resize({number(2), number(3)});
    resizer.start({size, {edge(6), edge(7), edge(8), edge(9)}, static_cast<Interpolation>(number(4))}, out);
    const std::size_t stride = std::size_t{size.width} * 3;
    for (std::uint32_t y = 0; y < size.height; y += batch) {
      resizer.take(y, {source.data() + y * stride, size.width, std::min(batch, size.height - y), stride});
    }
    if (!resizer.done()) return 1;
    std::fwrite(result.bytes().data(), 1, result.bytes().size(), stdout);
  }
  return 0;
}
