// What a loader decides by itself.
#include "reader/pipeline/work_plan.h"

#include <doctest/doctest.h>

#include "reader/loader_testing.h"

namespace imgpack {

namespace {

using testing::PackedImages;
using testing::small_options;

TEST_CASE("batches ahead, where nobody says how many") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto prefetch_of = [&](const LoaderOptions& options) {
    return WorkPlan(Sampler::create({{.dataset = data, .split = "train"}}, {}, 7), options).options.prefetch_batches;
  };
  LoaderOptions options = small_options();
  options.threads = 2;
  options.prefetch_batches = 0;
  const auto with_batches_of = [&](std::uint32_t size) {
    options.batch_size = size;
    return prefetch_of(options);
  };
  CHECK(with_batches_of(1) == 10);  // four chunks for each thread, of a sample each
  CHECK(with_batches_of(128) == 3);
  CHECK(with_batches_of(1024) == 3);

  options.device = "cuda:0";
  CHECK(with_batches_of(1) == 32);
  CHECK(with_batches_of(64) == 10);
  CHECK(with_batches_of(256) == 4);
  CHECK(with_batches_of(512) == 4);
  CHECK(with_batches_of(1024) == 4);
  options.prefetch_batches = 2;
  CHECK(with_batches_of(1024) == 2);
}

}  // namespace

}  // namespace imgpack
