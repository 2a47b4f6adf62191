// Prints what a loader delivers, for programs in other languages to compare with:
//   loader_print FILE SPLIT EPOCH       RandomResizedCrop(32), HorizontalFlip, ColorJitter, Normalize, float32, seed 5,
//                                       batches of 8; a line a batch: record numbers, CRC-32 of all images' bytes
#include <zlib.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include <fmt/format.h>

#include "imgpack/loader.h"

using imgpack::ColorJitter, imgpack::HorizontalFlip, imgpack::Normalize, imgpack::RandomResizedCrop;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    imgpack::Loader loader(imgpack::Dataset::open(argv[1]),
                           {.split = argv[2],
                            .batch_size = 8,
                            .seed = 5,
                            .transform = {RandomResizedCrop{32}, HorizontalFlip{}, ColorJitter{0.4, 0.4, 0.4, 0.1},
                                          Normalize::imagenet()}});
    for (const imgpack::Batch& batch : loader.epoch(std::strtoull(argv[3], nullptr, 10))) {
      const std::span<const std::byte> bytes = batch.images();
      const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
      fmt::print("{} {:08x}\n", fmt::join(batch.records(), ","), sum);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "loader_print: " << error.what() << '\n';
    return 1;
  }
}
