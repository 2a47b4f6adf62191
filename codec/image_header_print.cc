// Prints what read_image_header() says, for the differential test against Pillow.
//   image_header_print FILE...   one line a file
//   image_header_print           reads (4-byte little-endian length, bytes) from standard input until its end
// A line holds status, codec, width, height, channels and reason, separated by tabs.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "codec/image_header.h"
#include "mmap/little_endian.h"

namespace {

const char* name_of(imgpack::ImageHeaderStatus status) {
  switch (status) {
    case imgpack::ImageHeaderStatus::ok:
      return "ok";
    case imgpack::ImageHeaderStatus::empty:
      return "empty";
    case imgpack::ImageHeaderStatus::unrecognised:
      return "unrecognised";
    case imgpack::ImageHeaderStatus::truncated:
      return "truncated";
    case imgpack::ImageHeaderStatus::malformed:
      return "malformed";
    case imgpack::ImageHeaderStatus::too_large:
      return "too_large";
  }
  return "?";
}

void print(std::span<const std::byte> bytes) {
  const imgpack::ImageHeaderResult result = imgpack::read_image_header(bytes);
  const imgpack::ImageHeader& header = result.header;
  std::printf("%s\t%u\t%u\t%u\t%u\t%s\n", name_of(result.status), static_cast<unsigned>(header.codec), header.width,
              header.height, header.channels, result.reason.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    print(std::as_bytes(std::span(content)));
  }
  if (argc > 1) return 0;
  std::byte length[4];
  std::vector<std::byte> content;
  while (std::fread(length, 1, sizeof length, stdin) == sizeof length) {
    content.resize(imgpack::load_le<std::uint32_t>(length));
    if (std::fread(content.data(), 1, content.size(), stdin) != content.size()) return 1;
    print(content);
  }
  return 0;
}
