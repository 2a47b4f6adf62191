// The README's loop with libtorch, against the installed package.
#include <cstdint>
#include <iostream>

#include "imgpack/loader.h"
#include "imgpack/torch/tensors.h"

using imgpack::DType, imgpack::Layout;
using imgpack::HorizontalFlip, imgpack::Normalize, imgpack::RandomResizedCrop;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto data = imgpack::Dataset::open(argv[1]);
  auto loader = imgpack::Loader(data, {.split = "train",
                                       .batch_size = 4,
                                       .seed = 1,
                                       .transform = {RandomResizedCrop{32}, HorizontalFlip{}, Normalize::imagenet()},
                                       .dtype = DType::f16,
                                       .layout = Layout::nchw});
  std::int64_t images = 0;
  for (auto& batch : loader.epoch(0)) {
    const auto x = imgpack::torch::images(batch);
    const auto y = imgpack::torch::labels(batch);
    if (x.size(0) != y.size(0) || !x.isfinite().all().item<bool>()) return 1;
    images += x.size(0);
  }
  std::cout << images << " images\n";
  return static_cast<std::uint64_t>(images) == loader.samples() ? 0 : 1;
}
