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
#include <cstring>
#include <vector>

#include "codec/resize/fixed_point.h"
#include "codec/resize/resample_axis.h"
#include "codec/resize/resizer.h"
#include "mmap/little_endian.h"

namespace {

using namespace imgpack;

/// Both passes as they are written down: pixels of 4 bytes, as Pillow has them, one value after the other.
class Plain {
 public:
  explicit Plain(ConstRgbView source) : width_(source.width), pixels_(std::size_t{source.width} * source.height * 4) {
    for (std::uint32_t y = 0; y < source.height; ++y) {
      for (std::size_t x = 0; x < width_; ++x) {
        std::memcpy(pixels_.data() + (y * width_ + x) * 4, source.row(y) + x * 3, 3);
      }
    }
  }

  void resize(const ResampleAxis& horizontal, const ResampleAxis& vertical, std::vector<std::uint8_t>& out) {
    const std::size_t width = horizontal.size();
    const std::uint32_t first_row = vertical.begin();
    middle_.resize((vertical.end() - first_row) * width * 4);
    for (std::uint32_t y = first_row; y < vertical.end(); ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        weigh(pixels_.data() + (y * width_ + horizontal.first[x]) * 4, 4, horizontal, x,
              middle_.data() + ((y - first_row) * width + x) * 4);
      }
    }
    out.resize(vertical.size() * width * 4);
    for (std::uint32_t y = 0; y < vertical.size(); ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        weigh(middle_.data() + ((vertical.first[y] - first_row) * width + x) * 4, width * 4, vertical, y,
              out.data() + (y * width + x) * 4);
      }
    }
  }

 private:
  static void weigh(const std::uint8_t* source, std::size_t step, const ResampleAxis& axis, std::uint32_t i,
                    std::uint8_t* out) {
    const std::int32_t* const weights = axis.weights.data() + std::size_t{i} * axis.stride;
    std::int32_t red = kWeightHalf;
    std::int32_t green = kWeightHalf;
    std::int32_t blue = kWeightHalf;
    for (std::uint32_t t = 0; t < axis.count[i]; ++t, source += step) {
      red = add_weighted(red, source[0], weights[t]);
      green = add_weighted(green, source[1], weights[t]);
      blue = add_weighted(blue, source[2], weights[t]);
    }
    out[0] = finish_value(red);
    out[1] = finish_value(green);
    out[2] = finish_value(blue);
    out[3] = 0;
  }

  std::size_t width_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> middle_;
};

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

bool equal(ConstRgbView ours, const std::vector<std::uint8_t>& plain) {
  for (std::uint32_t y = 0; y < ours.height; ++y) {
    for (std::size_t x = 0; x < ours.width; ++x) {
      if (std::memcmp(ours.row(y) + x * 3, plain.data() + (y * std::size_t{ours.width} + x) * 4, 3) != 0) return false;
    }
  }
  return true;
}

bool read_exactly(void* out, std::size_t size) {
  return std::fread(out, 1, size, stdin) == size;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
  std::byte head[40];
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> plain_result;
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
      horizontal.compute({image.width, box.left, box.right, out.width, interpolation});
      vertical.compute({image.height, box.top, box.bottom, out.height, interpolation});
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
      Plain plain(image);
      slow = shortest(seconds, [&] {
        make_tables();
        plain.resize(horizontal, vertical, plain_result);
      });
      if (!equal(out, plain_result)) return 1;
    }
    std::printf("%.2f\t%.2f\t%.2f\n", ours, slow, tables);
    std::fflush(stdout);
  }
  return 0;
}
