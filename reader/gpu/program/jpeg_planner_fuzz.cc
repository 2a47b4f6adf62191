// Any bytes as a JPEG record with a segment index: whatever they say, planning stays within them (the sanitizers see to
// that), and a planned task keeps what jpeg_planner.h promises to kernels.
//
// Input: the file, the index, and the index's size as two bytes, low first. If that is more than there is, all of it is
// the file and it has no index.
#include <cstdlib>

#include <fmt/format.h>

#include "codec/jpeg/jpeg_test_support.h"
#include "reader/gpu/program/jpeg_task_check.h"
#include "tests/support/fuzz.h"

namespace {

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::jpeg::testing;
using imgpack::testing::JpegColor;
using imgpack::testing::JpegOptions;

constexpr std::size_t kSizeBytes = 2;

RecordBytes split(std::span<const std::byte> bytes) {
  if (bytes.size() < kSizeBytes) return {.payload = bytes, .segments = {}};
  const std::span<const std::byte> tail = bytes.last(kSizeBytes);
  const std::size_t size = std::to_integer<std::size_t>(tail[0]) | std::to_integer<std::size_t>(tail[1]) << 8;
  const std::span<const std::byte> rest = bytes.first(bytes.size() - kSizeBytes);
  if (size > rest.size()) return {.payload = bytes, .segments = {}};
  return {.payload = rest.first(rest.size() - size), .segments = rest.last(size)};
}

void require_kept(const std::string& broken) {
  if (broken.empty()) return;
  fmt::print(stderr, "broken: {}\n", broken);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RecordBytes bytes = split(std::as_bytes(std::span(data, size)));
  Random random(static_cast<std::uint32_t>(size));
  jpeg::SegmentIndex index;
  RecordMeta meta{.width = 1 + random() % 100, .height = 1 + random() % 100};
  const bool opens = jpeg::open_segment_index(bytes.segments, bytes.payload, index) == jpeg::IndexStatus::ok;
  if (opens) {
    meta.width = index.frame.width;
    meta.height = index.frame.height;
  }
  for (int i = 0; i < 4; ++i) {
    const Rect whole{0, 0, meta.width, meta.height};
    const Rect part = i == 0 ? whole : random_crop(random, {meta.width, meta.height});
    JpegTask task;
    JpegBytes needed;
    if (!plan_jpeg(meta, bytes, part, task, needed)) continue;
    require_kept(opens ? gpu::testing::broken_promise(task, needed, bytes.payload, part) : "an index that opens");
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  const auto add = [&seeds](int width, int height, const JpegOptions& options) {
    const auto seed = static_cast<std::uint32_t>(seeds.size());
    std::vector<std::byte> input = make_jpeg(width, height, seed, options);
    const Bytes index = index_of(input, {.segment_mcus = 1 + seed % 4});
    input.insert(input.end(), index.begin(), index.end());
    input.push_back(static_cast<std::byte>(index.size() & 0xff));
    input.push_back(static_cast<std::byte>(index.size() >> 8));
    seeds.push_back(std::move(input));
  };
  add(33, 20, {.gray = true, .optimize = true});
  add(70, 33, {});
  add(50, 50, {.quality = 60, .sampling = {{1, 1}, {1, 1}, {1, 1}}, .restart_interval = 3});
  add(40, 10, {.quality = 30, .sampling = {{2, 1}, {1, 1}, {1, 1}}, .restart_interval = 1});
  add(40, 40, {.quality = 20, .sampling = {{4, 1}, {1, 1}, {1, 1}}, .quant_16bit = true});
  add(35, 35, {.sampling = {{2, 2}, {2, 1}, {1, 2}}, .optimize = true, .noise = 256});
  add(20, 20, {.color = JpegColor::rgb});
  return seeds;
}
