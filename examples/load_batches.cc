// Goes through some epochs of training batches, as a training program would, and says how fast they came once the first
// was over:
//   load_batches imagenet.rec [SPLIT]
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>

#include "imgpack/loader.h"

using imgpack::HorizontalFlip;
using imgpack::Normalize;
using imgpack::RandomResizedCrop;

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: load_batches FILE [SPLIT]\n";
    return 2;
  }
  try {
    const imgpack::Dataset data = imgpack::Dataset::open(argv[1]);
    imgpack::Loader loader(data, {.split = argc == 3 ? argv[2] : "",
                                  .batch_size = 64,
                                  .seed = 1,
                                  .transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}});
    for (imgpack::Batch& batch : loader.epoch(0)) static_cast<void>(batch);
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t images = 0;
    for (std::uint64_t e = 1; e <= 5; ++e) {
      for (imgpack::Batch& batch : loader.epoch(e)) images += batch.size();  // a training step would be here
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const imgpack::LoaderStats stats = loader.stats();
    std::cout << images << " images in " << 5 * loader.batches() << " batches of float32 [N, 3, 224, 224], "
              << static_cast<std::uint64_t>(static_cast<double>(images) / seconds.count()) << " images/s with "
              << stats.threads << " threads\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "load_batches: " << error.what() << '\n';
    return 1;
  }
}
