#include "reader/loader_testing.h"

#include <fmt/format.h>

#include "formats/checksum.h"
#include "imgpack/build.h"
#include "tests/support/images.h"

namespace imgpack::testing {

PackedImages::PackedImages(Format format) : path_(dir_ / fmt::format("out.{}", to_string(format))) {
  make_image_folder(dir_ / "images", 3, 17);
  build(dir_ / "images", path_, {.format = format});
}

SeenBatch look_at(const Batch& batch) {
  SeenBatch seen(batch.size());
  const std::size_t bytes = batch.size() == 0 ? 0 : batch.images().size() / batch.size();
  const std::span<const std::byte> soft = std::as_bytes(batch.soft_labels());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    seen[i] = {.record = batch.records()[i],
               .dataset = batch.datasets()[i],
               .label = batch.labels()[i],
               .counts = batch.mask()[i] != 0,
               .pixels = checksum_of(batch.images().subspan(i * bytes, bytes)),
               .soft_label = checksum_of(soft.subspan(i * soft.size() / seen.size(), soft.size() / seen.size()))};
  }
  return seen;
}

std::vector<SeenBatch> look_at(Epoch epoch) {
  std::vector<SeenBatch> seen;
  for (const Batch& batch : epoch) seen.push_back(look_at(batch));
  return seen;
}

LoaderOptions small_options(std::uint32_t batch_size) {
  return {
      .split = "train",
      .batch_size = batch_size,
      .seed = 7,
      .transform = {RandomResizedCrop{24}, HorizontalFlip{}, ColorJitter{0.4, 0.4, 0.4, 0.1}, Normalize::imagenet()},
      .threads = 2};
}

}  // namespace imgpack::testing
