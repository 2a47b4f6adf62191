// Decodes and transcodes what it is sent, for the differential test against Pillow.
//   image_decode_print decode|baseline|restart
// reads (4-byte little-endian length, bytes) from standard input until its end and answers each with a line and data:
//   decode             status, width, height, EXIF orientation, reason; then the pixels
//   baseline, restart  status, bytes of the new file, whether its coefficients are the same, reason; then the new file
// Parts of a line are separated by tabs. No data follow unless the status is ok.
#include <cstdio>
#include <string_view>
#include <vector>

#include "codec/image_header.h"
#include "codec/jpeg/libjpeg.h"
#include "codec/orientation.h"
#include "codec/other/other_image.h"
#include "mmap/little_endian.h"

namespace {

using namespace imgpack;

const char* name_of(ImageStatus status) {
  switch (status) {
    case ImageStatus::ok:
      return "ok";
    case ImageStatus::truncated:
      return "truncated";
    case ImageStatus::damaged:
      return "damaged";
    case ImageStatus::too_large:
      return "too_large";
    case ImageStatus::unsupported:
      return "unsupported";
  }
  return "?";
}

void answer_decode(std::span<const std::byte> file) {
  const ImageHeaderResult header = read_image_header(file);
  const char* status = "refused";
  std::string reason = header.reason;
  RgbImage image;
  if (header.status == ImageHeaderStatus::ok && header.header.codec == Codec::jpeg) {
    CopyRows rows(image.resize({header.header.width, header.header.height}));
    const ImageResult result = decode_jpeg_rows(file, kDefaultMaxPixels, rows);
    status = name_of(result.status);
    reason = result.reason;
  } else if (header.status == ImageHeaderStatus::ok) {
    const ImageResult result = decode_other_image(file, header.header.codec, kDefaultMaxPixels, image);
    status = name_of(result.status);
    reason = result.reason;
  }
  std::printf("%s\t%u\t%u\t%d\t%s\n", status, image.size().width, image.size().height,
              exif_orientation(file, header.header.codec), reason.c_str());
  if (std::string_view(status) == "ok") std::fwrite(image.bytes().data(), 1, image.bytes().size(), stdout);
}

void answer_transcode(std::span<const std::byte> file, bool restart_markers) {
  ByteBuffer out;
  const ImageResult result = transcode_jpeg(file, kDefaultMaxPixels, {.restart_markers = restart_markers}, out);
  const bool same = result.ok() && same_coefficients(file, out.bytes());
  std::printf("%s\t%zu\t%d\t%s\n", name_of(result.status), out.size(), same ? 1 : 0, result.reason.c_str());
  if (result.ok()) std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc == 2 ? argv[1] : "";
  if (command != "decode" && command != "baseline" && command != "restart") return 2;
  std::byte length[4];
  std::vector<std::byte> content;
  while (std::fread(length, 1, sizeof length, stdin) == sizeof length) {
    content.resize(imgpack::load_le<std::uint32_t>(length));
    if (std::fread(content.data(), 1, content.size(), stdin) != content.size()) return 1;
    if (command == "decode") {
      answer_decode(content);
    } else {
      answer_transcode(content, command == "restart");
    }
    std::fflush(stdout);
  }
  return 0;
}
