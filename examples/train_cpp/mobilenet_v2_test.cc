#include "examples/train_cpp/mobilenet_v2.h"

#include <doctest/doctest.h>
#include <torch/utils.h>

// libtorch has a macro of this name too.
#undef CHECK
#define CHECK DOCTEST_CHECK

namespace trainer {

namespace {

std::int64_t count_parameters(const MobileNetV2& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model->parameters()) count += parameter.numel();
  return count;
}

TEST_CASE("the network has as many weights as torchvision's") {
  CHECK(count_parameters(MobileNetV2(1000)) == 3504872);
  CHECK(count_parameters(MobileNetV2(1000, 0.5)) == 1968680);
  CHECK(count_parameters(MobileNetV2(1000, 0.35)) == 1677128);
}

TEST_CASE("logits, and gradients for every weight") {
  MobileNetV2 model(7, 0.35);
  const torch::Tensor logits = model->forward(torch::randn({2, 3, 64, 32}));
  CHECK((logits.sizes() == at::IntArrayRef({2, 7})));
  logits.square().sum().backward();
  for (const auto& parameter : model->named_parameters()) {
    CAPTURE(parameter.key());
    CHECK(parameter.value().grad().defined());
  }
}

TEST_CASE("weights depend on torch's seed") {
  const auto first = [](std::uint64_t seed) {
    torch::manual_seed(seed);
    return MobileNetV2(3, 0.35)->parameters().at(0).detach().clone();
  };
  CHECK(at::equal(first(1), first(1)));
  CHECK(!at::equal(first(1), first(2)));
}

}  // namespace

}  // namespace trainer
