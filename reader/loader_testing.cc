#include "reader/loader_testing.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "imgpack/build.h"
#include "tests/support/images.h"

namespace imgpack::testing {

PackedImages::PackedImages(Format format) : path_(dir_ / fmt::format("out.{}", to_string(format))) {
  make_image_folder(dir_ / "images", 3, 17);
  build(dir_ / "images", path_, {.format = format});
}

void damage_record(const std::filesystem::path& path, std::uint64_t record) {
  const std::unique_ptr<StoreReader> store = open_store(path);
  const PayloadPlace place = store->place(record);
  std::fstream file(*place.file, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place.offset));
  file << "this is no JPEG any more";
  REQUIRE(file.flush());
}

#if defined(__SANITIZE_ADDRESS__)
namespace {

/// Of /proc/self/task: whether every thread but this one sleeps.
bool others_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t name_end = stat.rfind(')');  // "number (name) state ..."
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") S") != 0) return false;
  }
  return true;
}

}  // namespace

void let_allocator_rest() {
  for (int in_a_row = 0; in_a_row < 5;) {  // one that waits for a lock of the allocator sleeps too, but not for long
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    in_a_row = others_sleep() ? in_a_row + 1 : 0;
  }
}
#else
void let_allocator_rest() {}
#endif

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
