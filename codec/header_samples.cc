#include "codec/header_samples.h"

#include <string_view>

#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

using Bytes = std::vector<std::byte>;
using namespace std::string_view_literals;

template <class T>
void append_be(Bytes& out, T value) {
  for (std::size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

Bytes riff_chunk(std::string_view name, const Bytes& body) {
  Bytes out = bytes_of(name);
  append_le(out, static_cast<std::uint32_t>(body.size()));
  out.insert(out.end(), body.begin(), body.end());
  if (body.size() % 2 != 0) out.push_back(std::byte{0});
  return out;
}

Bytes webp(const std::vector<Bytes>& chunks) {
  return riff_chunk("RIFF", concatenated({bytes_of("WEBP"), concatenated(chunks)}));
}

Bytes vp8_chunk(std::uint16_t width, std::uint16_t height) {
  Bytes body = bytes_of("\x10\0\0\x9d\x01\x2a"sv);  // a shown key frame
  append_le(body, width);
  append_le(body, height);
  return riff_chunk("VP8 ", body);
}

Bytes vp8l_chunk(std::uint32_t width, std::uint32_t height, bool alpha) {
  Bytes body = {std::byte{0x2f}};
  append_le(body, (width - 1) | (height - 1) << 14 | (alpha ? 1u << 28 : 0u));
  return riff_chunk("VP8L", body);
}

Bytes vp8x_chunk(std::uint8_t flags, std::uint32_t width, std::uint32_t height) {
  Bytes body;
  append_le(body, std::uint32_t{flags});
  for (const std::uint32_t side : {width - 1, height - 1}) {
    for (int shift = 0; shift < 24; shift += 8) body.push_back(static_cast<std::byte>(side >> shift & 0xff));
  }
  return riff_chunk("VP8X", body);
}

Bytes animation_frame(std::uint32_t width, std::uint32_t height, const Bytes& image) {
  Bytes body(6);
  for (const std::uint32_t field : {width - 1, height - 1, 100u}) {
    for (int shift = 0; shift < 24; shift += 8) body.push_back(static_cast<std::byte>(field >> shift & 0xff));
  }
  body.push_back(std::byte{0});
  return riff_chunk("ANMF", concatenated({body, image}));
}

Bytes bmp(std::int32_t width, std::int32_t height, std::uint16_t bits, std::uint32_t compression) {
  Bytes out = bytes_of("BM");
  for (const std::uint32_t field : {0u, 0u, 54u, 40u}) append_le(out, field);
  append_le(out, width);
  append_le(out, height);
  append_le(out, std::uint16_t{1});
  append_le(out, bits);
  append_le(out, compression);
  for (int i = 0; i < 5; ++i) append_le(out, std::uint32_t{0});
  return out;
}

Bytes os2_bmp(std::uint16_t width, std::uint16_t height) {
  Bytes out = bytes_of("BM");
  for (const std::uint32_t field : {0u, 0u, 26u, 12u}) append_le(out, field);
  for (const std::uint16_t field : {width, height, std::uint16_t{1}, std::uint16_t{24}}) append_le(out, field);
  return out;
}

struct Tag {
  std::uint16_t number;
  std::uint16_t value;
};

/// Every value is a SHORT.
Bytes tiff(const std::vector<Tag>& tags, bool big_endian, bool big_tiff = false) {
  Bytes out = bytes_of(big_endian ? "MM\0\x2a"sv : big_tiff ? "II\x2b\0"sv : "II\x2a\0"sv);
  const auto put = [&]<class T>(T value) { big_endian ? append_be(out, value) : append_le(out, value); };
  if (big_tiff) {
    put(std::uint32_t{8});
    put(std::uint64_t{16});
    put(static_cast<std::uint64_t>(tags.size()));
  } else {
    put(std::uint32_t{8});
    put(static_cast<std::uint16_t>(tags.size()));
  }
  for (const Tag& tag : tags) {
    put(tag.number);
    put(std::uint16_t{3});
    if (big_tiff) {
      put(std::uint64_t{1});
    } else {
      put(std::uint32_t{1});
    }
    put(tag.value);
    out.resize(out.size() + (big_tiff ? 6 : 2));
  }
  return out;
}

std::vector<Tag> gray_tags(std::uint16_t width, std::uint16_t height) {
  return {{256, width}, {257, height}, {258, 8}, {262, 1}, {273, 8}};
}

Bytes gif(std::uint16_t width, std::uint16_t height) {
  Bytes out = bytes_of("GIF89a");
  append_le(out, width);
  append_le(out, height);
  out.resize(out.size() + 3);
  const Bytes extensions = bytes_of("!\xf9\x04\0\0\0\0\0!\xfe\x02hi\0,\0\0\0\0"sv);
  out.insert(out.end(), extensions.begin(), extensions.end());
  append_le(out, width);
  append_le(out, height);
  out.push_back(std::byte{0});
  out.push_back(std::byte{8});
  return out;
}

/// Where a JPEG's scan begins, which is all that is needed of it.
std::size_t scan_start(const Bytes& jpeg) {
  const std::size_t at = as_text(jpeg).find("\xff\xda");
  return at + 2 + std::to_integer<std::size_t>(jpeg[at + 3]);
}

std::size_t pixels_start(const Bytes& png) {
  return as_text(png).find("IDAT") + 4;
}

}  // namespace

Bytes bytes_of(std::string_view text) {
  const auto bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

Bytes concatenated(const std::vector<Bytes>& parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Bytes jpeg_segment(std::uint8_t marker, const Bytes& body) {
  Bytes out = {std::byte{0xff}, std::byte{marker}};
  append_be(out, static_cast<std::uint16_t>(body.size() + 2));
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

std::vector<HeaderSample> header_samples() {
  std::vector<HeaderSample> samples;
  const auto add = [&](std::string name, Bytes bytes, ImageHeader header, std::size_t header_size) {
    samples.push_back({std::move(name), std::move(bytes), header, header_size});
  };
  const auto add_whole = [&](std::string name, Bytes bytes, ImageHeader header) {
    const std::size_t size = bytes.size();
    add(std::move(name), std::move(bytes), header, size);
  };

  Bytes jpeg = make_jpeg(40, 30, 1);
  std::size_t size = scan_start(jpeg);
  add("jpeg", jpeg, {Codec::jpeg, 40, 30, 3}, size);
  const Bytes exif = jpeg_segment(
      0xe1, bytes_of("Exif\0\0II*\0\x08\0\0\0\x02\0\x1a\x01\x05\0\x01\0\0\0\x26\0\0\0\x28\x01\x03\0\x01\0\0\0\x02\0\0\0"
                     "\0\0\0\0\x48\0\0\0\x01\0\0\0"sv));
  const Bytes metadata =
      concatenated({exif, jpeg_segment(0xe2, bytes_of("ICC_PROFILE\0\x01\x01profile"sv)),
                    jpeg_segment(0xed, bytes_of("Photoshop 3.0\0008BIM\x04\x04\0\0\0\0\0\x02"
                                                "ab"sv)),
                    bytes_of("junk\xff\xff"sv), jpeg_segment(0xee, bytes_of("Adobe\0\x64\0\0\0\0\0"sv))});
  jpeg.insert(jpeg.begin() + 2, metadata.begin(), metadata.end());
  add("jpeg with metadata", jpeg, {Codec::jpeg, 40, 30, 3}, size + metadata.size());
  JpegOptions options;
  options.gray = true;
  options.progressive = true;
  jpeg = make_jpeg(8, 9, 2, options);
  size = scan_start(jpeg);
  add("gray progressive jpeg", std::move(jpeg), {Codec::jpeg, 8, 9, 1}, size);

  Bytes png = make_png(20, 10, 3);
  size = pixels_start(png);
  add("png", std::move(png), {Codec::png, 20, 10, 3}, size);

  add_whole("lossy webp", webp({vp8_chunk(300, 200)}), {Codec::webp, 300, 200, 3});
  add_whole("lossless webp", webp({vp8l_chunk(300, 200, false)}), {Codec::webp, 300, 200, 3});
  add_whole("lossless webp with alpha", webp({vp8l_chunk(16384, 1, true)}), {Codec::webp, 16384, 1, 4});
  add_whole("extended webp", webp({vp8x_chunk(0x20, 30, 20), riff_chunk("ICCP", bytes_of("abc")), vp8_chunk(30, 20)}),
            {Codec::webp, 30, 20, 3});
  add_whole("extended webp with alpha",
            webp({vp8x_chunk(0x10, 30, 20), riff_chunk("ALPH", bytes_of("abc")), vp8_chunk(30, 20)}),
            {Codec::webp, 30, 20, 4});
  add_whole("animated webp",
            webp({vp8x_chunk(0x02, 30, 20), riff_chunk("ANIM", Bytes(6)), animation_frame(30, 20, vp8_chunk(30, 20))}),
            {Codec::webp, 30, 20, 3});

  add_whole("bmp", bmp(30, 20, 24, 0), {Codec::bmp, 30, 20, 3});
  add_whole("bmp from top to bottom", bmp(30, -20, 32, 0), {Codec::bmp, 30, 20, 3});
  add_whole("bmp with a palette", bmp(30, 20, 8, 1), {Codec::bmp, 30, 20, 1});
  add_whole("os/2 bmp", os2_bmp(30, 20), {Codec::bmp, 30, 20, 3});

  add_whole("tiff", tiff(gray_tags(30, 20), false), {Codec::tiff, 30, 20, 1});
  add_whole("big-endian tiff", tiff(gray_tags(30, 20), true), {Codec::tiff, 30, 20, 1});
  add_whole("bigtiff", tiff(gray_tags(30, 20), false, true), {Codec::tiff, 30, 20, 1});
  add_whole("rgb tiff", tiff({{256, 30}, {258, 8}, {259, 5}, {262, 2}, {277, 3}, {257, 20}}, false),
            {Codec::tiff, 30, 20, 3});

  add_whole("gif", gif(30, 20), {Codec::gif, 30, 20, 1});
  return samples;
}

}  // namespace imgpack::testing
