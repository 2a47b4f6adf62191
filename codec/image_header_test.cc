#include "codec/image_header.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <zlib.h>

#include "codec/header_samples.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

using namespace imgpack;
using namespace imgpack::testing;
using namespace std::string_view_literals;

namespace {

using Bytes = std::vector<std::byte>;

const Bytes kSoi = bytes_of("\xff\xd8"sv);

/// The segments of a small JPEG without SOI and JFIF, up to the end of the file.
Bytes jpeg_rest() {
  const Bytes whole = make_jpeg(40, 30, 1);
  const std::size_t jfif_end = 4 + std::to_integer<std::size_t>(whole[5]);
  return {whole.begin() + static_cast<std::ptrdiff_t>(jfif_end), whole.end()};
}

Bytes jpeg_with(const Bytes& segments) {
  return concatenated({kSoi, segments, jpeg_rest()});
}

Bytes frame_header(std::uint8_t marker, std::string_view body) {
  const Bytes rest = jpeg_rest();
  const std::size_t scan = as_text(rest).find("\xff\xda");
  return concatenated(
      {kSoi, jpeg_segment(marker, bytes_of(body)), {rest.begin() + static_cast<std::ptrdiff_t>(scan), rest.end()}});
}

void check_refused(const Bytes& bytes, ImageHeaderStatus status, std::string_view reason) {
  const ImageHeaderResult result = read_image_header(bytes);
  CHECK(result.status == status);
  CHECK(result.reason == reason);
}

Bytes png_chunk(std::string_view name, const Bytes& body) {
  const Bytes covered = concatenated({bytes_of(name), body});
  const uLong checksum = ::crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size());
  Bytes out;
  const auto push = [&out](std::uint64_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift & 0xff));
  };
  push(body.size());
  out.insert(out.end(), covered.begin(), covered.end());
  push(checksum);
  return out;
}

/// A PNG with `chunk` behind its IHDR.
Bytes png_with(const Bytes& chunk) {
  Bytes png = make_png(20, 10, 3);
  png.insert(png.begin() + 33, chunk.begin(), chunk.end());
  return png;
}

Bytes deflated(std::size_t zeros) {
  const std::vector<Bytef> content(zeros);
  Bytes out(::compressBound(static_cast<uLong>(zeros)));
  uLongf size = static_cast<uLongf>(out.size());
  REQUIRE(::compress(reinterpret_cast<Bytef*>(out.data()), &size, content.data(), static_cast<uLong>(zeros)) == Z_OK);
  out.resize(size);
  return out;
}

}  // namespace

TEST_CASE("every image type is recognised by content") {
  for (const HeaderSample& sample : header_samples()) {
    CAPTURE(sample.name);
    const ImageHeaderResult result = read_image_header(sample.bytes);
    CHECK(result.reason == "");
    CHECK(result.status == ImageHeaderStatus::ok);
    CHECK(result.header.codec == sample.header.codec);
    CHECK(result.header.width == sample.header.width);
    CHECK(result.header.height == sample.header.height);
    CHECK(result.header.channels == sample.header.channels);
  }
}

TEST_CASE("a file opens exactly when its header is complete") {
  for (const HeaderSample& sample : header_samples()) {
    CAPTURE(sample.name);
    for_each_cut(sample.bytes, 1, [&](std::span<const std::byte> prefix) {
      CAPTURE(prefix.size());
      const ImageHeaderResult result = read_image_header(prefix);
      CHECK((result.status == ImageHeaderStatus::ok) == (prefix.size() >= sample.header_size));
      CHECK((result.status == ImageHeaderStatus::empty) == prefix.empty());
      CHECK(result.reason.empty() == (result.status == ImageHeaderStatus::ok));
    });
  }
}

TEST_CASE("the limit on pixels is the caller's") {
  const Bytes png = make_png(20, 10, 3);
  CHECK(read_image_header(png, 200).status == ImageHeaderStatus::ok);
  const ImageHeaderResult result = read_image_header(png, 199);
  CHECK(result.status == ImageHeaderStatus::too_large);
  CHECK(result.reason == "200 pixels are more than the limit of 199");
}

TEST_CASE("what is no image says so") {
  check_refused({}, ImageHeaderStatus::empty, "the file is empty");
  check_refused(bytes_of("<html>not found</html>"), ImageHeaderStatus::unrecognised, "not an image of a known type");
  check_refused(bytes_of("RIFF\x10\0\0\0WAVEfmt "sv), ImageHeaderStatus::unrecognised, "not an image of a known type");
  check_refused(bytes_of("\xff\xd8"sv), ImageHeaderStatus::unrecognised, "not an image of a known type");
}

TEST_CASE("JPEG refusals name what is wrong") {
  const Bytes cut = concatenated({kSoi, bytes_of("\xff\xed\x20\0Photoshop"sv)});
  check_refused(cut, ImageHeaderStatus::truncated, "JPEG ends inside its APP13 segment");
  check_refused(concatenated({kSoi, bytes_of("\xff\xfe\0\x02\xff\x4f"sv)}), ImageHeaderStatus::malformed,
                "JPEG has an unknown marker FF4F");
  check_refused(frame_header(0xc0, "\x08\xff\xdc\xff\xdc\x01\x01\x11\0"sv), ImageHeaderStatus::too_large,
                "4290250000 pixels are more than the limit of 178956970");
  check_refused(frame_header(0xc1, "\x0c\0\x10\0\x10\x01\x01\x11\0"sv), ImageHeaderStatus::malformed,
                "JPEG has samples of 12 bits, which is not supported");
  check_refused(frame_header(0xc0, "\x08\0\x10\0\x10\x02\x01\x11\0\x02\x11\0"sv), ImageHeaderStatus::malformed,
                "JPEG has 2 components, which is not supported");
  check_refused(frame_header(0xc0, "\x08\0\0\0\x10\x01\x01\x11\0"sv), ImageHeaderStatus::malformed,
                "the image has no pixels: its size is 16 x 0");
  check_refused(frame_header(0xc2, "\x08\0\x10\0\x10\x01\x01\x11"sv), ImageHeaderStatus::malformed,
                "JPEG has a SOF2 segment of an impossible length");
  check_refused(frame_header(0xfe, "no frame header"), ImageHeaderStatus::malformed,
                "JPEG has a scan before its frame header");
}

TEST_CASE("JPEG fill bytes, junk and empty segments are skipped") {
  for (const Bytes& extra :
       {bytes_of("\xff\xff\xff\xff"sv), concatenated({jpeg_segment(0xfe, {}), bytes_of("junk\xff\0junk"sv)}),
        bytes_of("\xff\xe5\0\0\xff\xe5\0\x01\xff\xd0"sv)}) {
    const ImageHeaderResult result = read_image_header(jpeg_with(extra));
    CHECK(result.reason == "");
    CHECK(result.header.width == 40);
  }
}

TEST_CASE("JPEG frame kinds: all of them open, also those that few decoders know") {
  for (int marker = 0xc0; marker <= 0xcf; ++marker) {
    CAPTURE(marker);
    const bool other_meaning = marker == 0xc4 || marker == 0xc8 || marker == 0xcc;
    const ImageHeaderResult result =
        read_image_header(frame_header(static_cast<std::uint8_t>(marker), "\x08\0\x10\0\x11\x01\x01\x11\0"sv));
    CHECK((result.status == ImageHeaderStatus::ok) == !other_meaning);
  }
}

TEST_CASE("JPEG metadata that Pillow stumbles over is refused, other damage in there is not") {
  const auto exif = [](std::string_view content) {
    return jpeg_segment(0xe1, bytes_of(std::string("Exif\0\0"sv) + std::string(content)));
  };
  CHECK(read_image_header(jpeg_with(exif("garbage"))).status == ImageHeaderStatus::ok);
  CHECK(read_image_header(jpeg_with(exif("II*\0\x08\0\0\0\xff\xff"sv))).status == ImageHeaderStatus::ok);
  check_refused(jpeg_with(exif("II*\0\x08"sv)), ImageHeaderStatus::malformed,
                "JPEG has an Exif segment that is cut off");
  // A density in JFIF means that nobody looks into Exif.
  const Bytes jfif = jpeg_segment(0xe0, bytes_of("JFIF\0\x01\x01\x01\0\x48\0\x48\0\0"sv));
  CHECK(read_image_header(jpeg_with(concatenated({jfif, exif("II*\0\x08"sv)}))).status == ImageHeaderStatus::ok);
  check_refused(jpeg_with(jpeg_segment(0xe2, bytes_of("ICC_PROFILE\0\x01"sv))), ImageHeaderStatus::malformed,
                "JPEG has a colour profile segment without numbers");
  check_refused(jpeg_with(jpeg_segment(0xee, bytes_of("Adobe\0"sv))), ImageHeaderStatus::malformed,
                "JPEG has an Adobe segment without a version");
}

TEST_CASE("PNG chunks before the pixels are checked") {
  CHECK(read_image_header(png_with(png_chunk("teSt", bytes_of("anything")))).status == ImageHeaderStatus::ok);
  Bytes damaged = png_with(png_chunk("teSt", bytes_of("anything")));
  damaged[33 + 8] ^= std::byte{1};
  check_refused(damaged, ImageHeaderStatus::malformed, "PNG has a wrong checksum in its teSt chunk");
  check_refused(png_with(png_chunk("gAMA", bytes_of("abc"))), ImageHeaderStatus::malformed,
                "PNG has a gAMA chunk that is too short");
}

TEST_CASE("PNG profiles and texts may not grow beyond a mebibyte") {
  for (const auto& [name, prefix, reason] :
       {std::tuple{"iCCP", "name\0\0"sv, "PNG has a colour profile of more than 1 MiB"},
        std::tuple{"zTXt", "key\0\0"sv, "PNG has a text of more than 1 MiB"},
        std::tuple{"iTXt", "key\0\1\0\0\0"sv, "PNG has a text of more than 1 MiB"}}) {
    CAPTURE(name);
    const auto png = [&](std::size_t size) {
      return png_with(png_chunk(name, concatenated({bytes_of(prefix), deflated(size)})));
    };
    CHECK(read_image_header(png(1u << 20)).status == ImageHeaderStatus::ok);
    check_refused(png((1u << 20) + 1), ImageHeaderStatus::malformed, reason);
  }
}

TEST_CASE("a WebP opens only as a whole") {
  const HeaderSample sample = header_samples()[4];
  REQUIRE(sample.name == "lossy webp");
  Bytes cut = sample.bytes;
  cut.pop_back();
  check_refused(cut, ImageHeaderStatus::truncated, "WebP ends after 29 of 30 bytes");
  Bytes longer = sample.bytes;
  longer.push_back(std::byte{0});
  CHECK(read_image_header(longer).status == ImageHeaderStatus::ok);
}

TEST_CASE("a GIF's first image can enlarge it") {
  Bytes gif = header_samples().back().bytes;
  const std::size_t image = as_text(gif).rfind(',');
  gif[image + 1] = std::byte{100};  // 100 pixels from the left
  CHECK(read_image_header(gif).header.width == 130);
}

TEST_CASE("headers of many parts take linear time") {
  // Nothing is timed: a reader that goes back for every part would not come to an end here.
  constexpr std::size_t kLength = std::size_t{16} << 20;
  Bytes fill(kLength, std::byte{0xff});
  fill[1] = std::byte{0xd8};
  check_refused(fill, ImageHeaderStatus::truncated, "JPEG ends before its first scan");

  Bytes segments = kSoi;
  const Bytes segment = jpeg_segment(0xe1, bytes_of("Exif\0\0garbage"sv));
  while (segments.size() < kLength) segments.insert(segments.end(), segment.begin(), segment.end());
  check_refused(segments, ImageHeaderStatus::truncated, "JPEG ends before its first scan");

  Bytes chunks = make_png(20, 10, 3);
  chunks.resize(33);
  const Bytes empty_chunk = png_chunk("teSt", {});
  while (chunks.size() < kLength) chunks.insert(chunks.end(), empty_chunk.begin(), empty_chunk.end());
  check_refused(chunks, ImageHeaderStatus::truncated, "PNG ends before its pixels");

  Bytes gif = header_samples().back().bytes;
  gif.resize(13);
  while (gif.size() < kLength) gif.push_back(std::byte{'!'});
  CHECK(read_image_header(gif).status == ImageHeaderStatus::truncated);
}

TEST_CASE("one changed byte never turns a size into another type's") {
  for (const HeaderSample& sample : header_samples()) {
    CAPTURE(sample.name);
    for_each_flip(sample.bytes, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      CAPTURE(offset);
      const ImageHeaderResult result = read_image_header(bytes);
      if (result.status == ImageHeaderStatus::ok) CHECK(result.header.codec == sample.header.codec);
    });
  }
}
