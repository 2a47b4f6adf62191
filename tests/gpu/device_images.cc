#include "tests/gpu/device_images.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <cuda_runtime_api.h>

#include "codec/image_header.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/segment_index.h"
#include "codec/other/other_image.h"
#include "reader/augment/sample_maker.h"
#include "reader/gpu/cuda_check.h"

namespace imgpack::testing {

namespace {

constexpr std::size_t kBatch = 256;

}  // namespace

TestRecord jpeg_record(std::vector<std::byte> file, std::uint32_t segment_mcus) {
  TestRecord record;
  record.payload = std::move(file);
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  if (builder.build(record.payload, {.segment_mcus = segment_mcus}, index) != jpeg::Indexability::indexable) {
    throw std::runtime_error("no index for this file");
  }
  record.segments.assign(index.bytes().begin(), index.bytes().end());
  jpeg::SegmentIndex opened;
  if (jpeg::open_segment_index(record.segments, record.payload, opened) != jpeg::IndexStatus::ok) {
    throw std::runtime_error("bad index");
  }
  record.meta.width = opened.frame.width;
  record.meta.height = opened.frame.height;
  record.meta.channels = static_cast<std::uint8_t>(opened.frame.component_count);
  record.meta.codec = Codec::jpeg;
  record.meta.payload_size = record.payload.size();
  record.meta.segments_size = record.segments.size();
  return record;
}

TestRecord raw_record(std::uint32_t width, std::uint32_t height, std::vector<std::byte> pixels) {
  TestRecord record;
  record.payload = std::move(pixels);
  record.meta.width = width;
  record.meta.height = height;
  record.meta.channels = 3;
  record.meta.codec = Codec::raw_rgb8;
  record.meta.payload_size = record.payload.size();
  return record;
}

SamplePlan crop_plan(const Rect& crop) {
  PlanStage stage;
  stage.crop = crop;
  stage.scaled = {crop.width, crop.height};
  stage.canvas.size = stage.scaled;
  SamplePlan plan;
  plan.stages.push_back(stage);
  return plan;
}

DeviceImages::DeviceImages(const PixelFormat& format, ImageSize capacity, std::uint64_t scratch_bytes)
    : format_(format), batch_{.image = capacity, .dtype = format.dtype, .layout = format.layout, .soft_classes = 0} {
  CudaDeviceOptions options;
  options.format = format;
  options.batch = batch_;
  options.scratch_bytes = scratch_bytes;
  options.transport = DeviceTransport::pinned;
  device_ = open_cuda_device(options);
}
DeviceImages::~DeviceImages() = default;

std::vector<ImageOutcome> DeviceImages::make(std::span<const Item> items) {
  std::vector<ImageOutcome> outcomes;
  for (std::size_t at = 0; at < items.size(); at += kBatch) {
    make_batch(items.subspan(at, std::min(kBatch, items.size() - at)), outcomes);
  }
  return outcomes;
}

void DeviceImages::make_batch(std::span<const Item> items, std::vector<ImageOutcome>& outcomes) {
  const auto count = static_cast<std::uint32_t>(items.size());
  const std::unique_ptr<DeviceMemory> memory = device_->allocate(count, count);
  const std::unique_ptr<DeviceJob> job = device_->begin(*memory, count);
  SampleMaker maker(format_, &decode_other_image, kDefaultMaxPixels, false);
  std::vector<ImageOutcome> made(count);
  std::vector<std::vector<std::byte>> expected(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& [record, plan] = items[i];
    expected[i].resize(image_bytes(plan.size(), format_.dtype));
    made[i].host_ok = maker.make(record->meta, record->bytes(), plan, expected[i].data()).ok();
    const DeviceJob::Placement placement = job->add(i, record->meta, record->bytes(), plan);
    made[i].by_host = placement.host_image != nullptr;
    made[i].device_ok = placement.result.ok();
    if (made[i].by_host) {
      made[i].device_ok = maker.make(record->meta, record->bytes(), plan, placement.host_image).ok();
    }
  }
  const std::vector<std::int64_t> labels(count, 7);
  const std::vector<std::uint8_t> mask(count, 1);
  job->submit({.labels = labels, .mask = mask, .soft_labels = {}});
  job->wait();
  std::vector<std::byte> pixels(batch_.image_bytes());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!made[i].by_host) made[i].device_ok = !job->damaged(i).has_value();
    gpu::check(cudaMemcpy(pixels.data(), memory->images + i * batch_.image_bytes(), expected[i].size(),
                          cudaMemcpyDeviceToHost),
               "copying an image back");
    made[i].equal =
        made[i].host_ok && made[i].device_ok && std::memcmp(pixels.data(), expected[i].data(), expected[i].size()) == 0;
  }
  outcomes.insert(outcomes.end(), made.begin(), made.end());
}

}  // namespace imgpack::testing
