// Resizer beside Pillow's algorithm in plain C++, on pixels of standard input; resize_benchmark.py feeds it and runs
// Pillow itself on the same pixels.
//
//   resize_benchmark SECONDS <REQUESTS
//
// A request is, in little-endian order: width and height of the source and of the result, Interpolation, the box's
// left, top, right and bottom as whole pixels, and 1 where filter tables may be kept from call to call or 0 where they
// are new each time (32-bit unsigned each); then the pixels. For each, a line holds the shortest microseconds of a call
// of Resizer, of the plain code (0 where there is nothing to filter), and of building the filter tables alone. The
// results of both must be equal.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "benchmarks/plain_resize.h"
#include "codec/resize/resample_axis.h"
#include "codec/resize/resizer.h"
#include "mmap/little_endian.h"

namespace {

using namespace imgpack;

/// The shortest call in that many seconds, in microseconds.
template <typename Work>
double shortest(double seconds, Work work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double best = 1e9;
  for (auto now = begin; std::chrono::duration<double>(now - begin).count() < seconds;) {
    work();
    const auto after = Clock::now();
    best = std::min(best, std::chrono::duration<double>(after - now).count());
    now = after;
  }
  return best * 1e6;
}

bool read_exactly(void* out, std::size_t size) {
  return std::fread(out, 1, size, stdin) == size;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
  std::byte head[40];
  std::vector<std::uint8_t> pixels;
  RgbImage plain_result;
  RgbImage result;
  Resizer resizer;
  while (read_exactly(head, sizeof head)) {
    const auto number = [&head](int i) { return load_le<std::uint32_t>(head + 4 * i); };
    const auto edge = [&number](int i) { return static_cast<float>(number(i)); };
    const ConstRgbView source = {nullptr, number(0), number(1), std::size_t{number(0)} * 3};
    pixels.resize(source.stride * source.height);
    if (!read_exactly(pixels.data(), pixels.size())) return 1;
    const ConstRgbView image = {pixels.data(), source.width, source.height, source.stride};
    const RgbView out = result.resize({number(2), number(3)});
    const auto interpolation = static_cast<Interpolation>(number(4));
    const Box box = {edge(5), edge(6), edge(7), edge(8)};
    const bool keep_tables = number(9) != 0;

    ResampleAxis horizontal;
    ResampleAxis vertical;
    const auto make_tables = [&] {
      horizontal.compute({image.width, box.left, box.right, out.width, interpolation, 0, out.width});
      vertical.compute({image.height, box.top, box.bottom, out.height, interpolation, 0, out.height});
    };
    std::uint8_t spare[3] = {};
    const double ours = shortest(seconds, [&] {
      // Another size in between makes the tables obsolete.
      if (!keep_tables) resizer.start({{1, 1}, whole({1, 1}), Interpolation::nearest}, {spare, 1, 1, 3});
      resize(image, box, interpolation, out, resizer);
    });
    const double tables = shortest(seconds / 4, make_tables);
    double slow = 0;
    if (!horizontal.weights.empty() && !vertical.weights.empty()) {
      PlainResize plain;
      const RgbView plain_out = plain_result.resize({out.width, out.height});
      slow = shortest(seconds, [&] {
        make_tables();
        plain.resize(image, horizontal, vertical, plain_out);
      });
      if (!std::ranges::equal(result.bytes(), plain_result.bytes())) return 1;
    }
    std::printf("%.2f\t%.2f\t%.2f\n", ours, slow, tables);
    std::fflush(stdout);
  }
  return 0;
}
