#include "codec/jpeg/libjpeg.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "codec/image_header.h"
#include "tests/support/damage.h"
#include "tests/support/images.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kMaxPixels = 1u << 20;
constexpr Subsampling kSubsamplings[] = {Subsampling::s444, Subsampling::s422, Subsampling::s420};

/// Smooth colours, which JPEG keeps well.
RgbImage make_picture(Size size) {
  RgbImage image;
  const RgbView view = image.resize(size);
  for (std::uint32_t y = 0; y < size.height; ++y) {
    for (std::uint32_t x = 0; x < size.width; ++x) {
      std::uint8_t* pixel = view.row(y) + x * 3;
      pixel[0] = static_cast<std::uint8_t>(x * 2);
      pixel[1] = static_cast<std::uint8_t>(y * 2);
      pixel[2] = static_cast<std::uint8_t>(255 - x - y);
    }
  }
  return image;
}

RgbImage decode(std::span<const std::byte> file) {
  const ImageHeader header = read_image_header(file).header;
  RgbImage image;
  CopyRows rows(image.resize({header.width, header.height}));
  const ImageResult result = decode_jpeg_rows(file, kMaxPixels, rows);
  CHECK_MESSAGE(result.ok(), result.reason);
  return image;
}

double mean_difference(const RgbImage& a, const RgbImage& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes().size(); ++i) {
    sum += std::abs(static_cast<int>(a.bytes()[i]) - static_cast<int>(b.bytes()[i]));
  }
  return sum / static_cast<double>(a.bytes().size());
}

int count_marker(std::span<const std::byte> file, int first, int last) {
  int count = 0;
  for (std::size_t i = 0; i + 1 < file.size(); ++i) {
    const int next = static_cast<int>(file[i + 1]);
    count += file[i] == std::byte{0xff} && next >= first && next <= last ? 1 : 0;
  }
  return count;
}

/// The two-byte value in a DRI segment, 0 without one.
unsigned restart_interval(std::span<const std::byte> file) {
  for (std::size_t i = 0; i + 5 < file.size(); ++i) {
    if (file[i] == std::byte{0xff} && file[i + 1] == std::byte{0xdd}) {
      return static_cast<unsigned>(file[i + 4]) << 8 | static_cast<unsigned>(file[i + 5]);
    }
  }
  return 0;
}

std::vector<std::byte> encoded(const RgbImage& image, int quality, Subsampling subsampling, unsigned restart_mcus = 0) {
  ByteBuffer out;
  encode_jpeg(image.view(), quality, subsampling, restart_mcus, out);
  return {out.bytes().begin(), out.bytes().end()};
}

class CountRows final : public RowSink {
 public:
  void take(std::uint32_t y, ConstRgbView rows) override {
    CHECK(y == count_);
    CHECK(rows.height <= 16);
    count_ += rows.height;
  }
  std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_ = 0;
};

TEST_CASE("encoded pixels come back, from the smallest sizes on") {
  for (const Size size : {Size{1, 1}, {1, 17}, {17, 1}, {8, 8}, {15, 16}, {33, 31}, {100, 67}}) {
    const RgbImage image = make_picture(size);
    for (const Subsampling subsampling : kSubsamplings) {
      const std::vector<std::byte> file = encoded(image, 95, subsampling);
      CHECK(mean_difference(image, decode(file)) < 4);
      CHECK(file == encoded(image, 95, subsampling));
      CHECK(count_marker(file, 0xe1, 0xef) == 0);
      CHECK(count_marker(file, 0xe0, 0xe0) == 1);
      CHECK(count_marker(file, 0xc0, 0xc0) == 1);
    }
  }
}

TEST_CASE("quality, subsampling and restart markers show in the file") {
  const RgbImage image = make_picture({100, 67});
  CHECK(encoded(image, 20, Subsampling::s444).size() < encoded(image, 98, Subsampling::s444).size());
  const int factors[] = {0x11, 0x21, 0x22};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<std::byte> file = encoded(image, 90, kSubsamplings[i]);
    std::size_t frame = 0;
    while (file[frame] != std::byte{0xff} || file[frame + 1] != std::byte{0xc0}) ++frame;
    CHECK(static_cast<int>(file[frame + 11]) == factors[i]);
  }
  const std::vector<std::byte> plain = encoded(image, 90, Subsampling::s420);
  const std::vector<std::byte> restarts = encoded(image, 90, Subsampling::s420, 7);
  CHECK(count_marker(plain, 0xd0, 0xd7) == 0);
  CHECK(count_marker(restarts, 0xd0, 0xd7) == 4);  // 7 x 5 MCUs
  CHECK(restart_interval(restarts) == 7);
  CHECK(same_coefficients(plain, restarts));
  CHECK_FALSE(same_coefficients(plain, encoded(image, 89, Subsampling::s420)));
  CHECK_FALSE(same_coefficients(plain, encoded(image, 90, Subsampling::s422)));
}

TEST_CASE("transcoding makes one baseline scan, with restarts that divide rows") {
  struct Case {
    int width;
    bool gray;
    unsigned interval;
  };
  // libjpeg's default is 4:2:0, six blocks an MCU: 32 MCUs a row are cut in fours, 31 are prime, 3 stay together.
  for (const Case& c : {Case{500, false, 4}, {496, false, 31}, {40, false, 3}, {320, true, 20}, {8, true, 1}}) {
    const auto file = testing::make_jpeg(c.width, 70, 5, {.quality = 80, .gray = c.gray, .progressive = true});
    ByteBuffer out;
    CHECK(transcode_jpeg(file, kMaxPixels, {.restart_markers = true}, out).ok());
    CHECK(same_coefficients(file, out.bytes()));
    CHECK(count_marker(out.bytes(), 0xda, 0xda) == 1);
    CHECK(count_marker(out.bytes(), 0xc0, 0xc0) == 1);
    CHECK(restart_interval(out.bytes()) == c.interval);
    CHECK(transcode_jpeg(file, kMaxPixels, {}, out).ok());
    CHECK(restart_interval(out.bytes()) == 0);
    CHECK(mean_difference(decode(file), decode(out.bytes())) == 0);
  }
}

TEST_CASE("cut files never decode whole, whatever is missing") {
  for (const bool progressive : {false, true}) {
    const auto file = testing::make_jpeg(40, 37, 3, {.progressive = progressive});
    testing::for_each_cut(file, 7, [&](std::span<const std::byte> cut) {
      if (cut.size() + 12 > file.size()) return;  // what remains may be complete without its end
      CountRows rows;
      const ImageResult result = decode_jpeg_rows(cut, kMaxPixels, rows);
      CHECK_FALSE(result.ok());
      CHECK_FALSE(result.reason.empty());
      CHECK(rows.count() < 37);
      ByteBuffer out;
      CHECK_FALSE(transcode_jpeg(cut, kMaxPixels, {}, out).ok());
    });
    CountRows rows;
    CHECK(decode_jpeg_rows(file, kMaxPixels, rows).ok());
    CHECK(rows.count() == 37);
  }
}

TEST_CASE("a missing end-of-image marker is tolerated in a baseline file") {
  const auto file = testing::make_jpeg(40, 37, 3);
  const std::span<const std::byte> cut(file.data(), file.size() - 2);
  ByteBuffer out;
  CHECK(transcode_jpeg(cut, kMaxPixels, {}, out).ok());
  CHECK(same_coefficients(file, out.bytes()));
}

TEST_CASE("limits") {
  const auto file = testing::make_jpeg(40, 37, 3);
  CountRows rows;
  ByteBuffer out;
  CHECK(decode_jpeg_rows(file, 40 * 37 - 1, rows).status == ImageStatus::too_large);
  CHECK(transcode_jpeg(file, 40 * 37 - 1, {}, out).status == ImageStatus::too_large);
  CHECK(decode_jpeg_rows(testing::make_png(4, 4, 1), kMaxPixels, rows).status == ImageStatus::damaged);
  CHECK(rows.count() == 0);

  // A progressive file whose last scan comes 300 times.
  const auto many = testing::make_jpeg(16, 16, 3, {.gray = true, .progressive = true});
  std::size_t scan = many.size();
  while (many[scan - 2] != std::byte{0xff} || many[scan - 1] != std::byte{0xda}) --scan;
  const auto last = many.begin() + static_cast<std::ptrdiff_t>(scan) - 2;
  const auto end = many.end() - 2;
  std::vector<std::byte> bomb(many.begin(), end);
  for (int i = 0; i < 300; ++i) bomb.insert(bomb.end(), last, end);
  bomb.insert(bomb.end(), end, many.end());
  const ImageResult result = decode_jpeg_rows(bomb, kMaxPixels, rows);
  CHECK(result.status == ImageStatus::damaged);
  CHECK(result.reason.find("scans") != std::string::npos);
  CHECK_FALSE(transcode_jpeg(bomb, kMaxPixels, {}, out).ok());
}

}  // namespace

}  // namespace imgpack
