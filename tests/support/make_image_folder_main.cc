// imgpack_make_images FOLDER [CLASSES [PER_CLASS [SEED]]]: a folder of small images, the same bytes on every run.
#include <cstdio>
#include <exception>
#include <string>

#include "tests/support/images.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 5) {
    std::fprintf(stderr, "usage: imgpack_make_images FOLDER [CLASSES [PER_CLASS [SEED]]]\n");
    return 2;
  }
  try {
    const int classes = argc > 2 ? std::stoi(argv[2]) : 10;
    const int per_class = argc > 3 ? std::stoi(argv[3]) : 100;
    const auto seed = static_cast<std::uint32_t>(argc > 4 ? std::stoul(argv[4]) : 1);
    imgpack::testing::make_image_folder(argv[1], classes, per_class, seed);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "imgpack_make_images: %s\n", error.what());
    return 1;
  }
}
