#include "reader/pipeline/work_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "codec/decode.h"
#include "imgpack/error.h"
#include "mmap/cpu_budget.h"
#include "reader/record_error.h"

namespace imgpack {

namespace {

constexpr std::uint32_t kDefaultBatchSize = 64;
constexpr std::uint32_t kMostBatchSize = 1u << 24;
constexpr std::uint32_t kMostChunk = 16;  ///< samples: a thread must not sit on much that others wait for
/// Of samples that a device makes, a thread does next to nothing.
constexpr std::uint32_t kMostDeviceChunk = 32;
constexpr unsigned kMostDeviceParts = 8;
/// Samples in flight that keep a device at work, besides two batches; and how many batches these may be together, as
/// one is planned while one is brought, one is made and one waits for the consumer.
constexpr std::uint32_t kDeviceSamples = 512;
constexpr std::uint32_t kLeastDeviceBatches = 4;
constexpr std::uint32_t kMostDeviceBatches = 32;
constexpr unsigned kMostThreads = 4096;
constexpr std::uint32_t kMostPrefetch = 1u << 20;

[[noreturn]] void refuse(std::string message) {
  throw Error(ErrorCode::invalid_argument, std::move(message));
}

BatchShape shape_of(const LoaderOptions& options) {
  if (options.world_size == 0 || options.rank >= options.world_size) {
    refuse(fmt::format("rank {} of {} processes makes no sense", options.rank, options.world_size));
  }
  const std::uint64_t each = options.batch_size;
  std::uint64_t all = options.global_batch_size;
  if (all == 0) all = (each == 0 ? kDefaultBatchSize : each) * options.world_size;
  if (each != 0 && all != each * options.world_size) {
    refuse(fmt::format("{} samples for each of {} processes are not {} together", each, options.world_size, all));
  }
  if (all < options.world_size) refuse(fmt::format("{} samples are too few for {} ranks", all, options.world_size));
  if (all > kMostBatchSize) refuse(fmt::format("a batch of {} samples is more than {}", all, kMostBatchSize));
  return {.global_batch_size = static_cast<std::uint32_t>(all),
          .rank = options.rank,
          .world_size = options.world_size,
          .last_batch = options.last_batch};
}

/// Without a step that gives all images one size, they have to have one already: that of the first.
ImageSize image_size(const Augmenter& augmenter, const Sampler& sampler, std::uint64_t max_pixels) {
  if (const std::optional<ImageSize> size = augmenter.output_size()) return *size;
  const Sample first = sampler.at(0, 0);
  const StoreReader& store = sampler.shares()[first.dataset].dataset.store();
  const RecordMeta meta = store.meta(first.record);
  if (const ImageResult checked = check_image_size(meta, max_pixels); !checked.ok()) {
    throw record_error(store, first.record, checked);
  }
  const std::optional<ImageSize> size = augmenter.output_size(Size{meta.width, meta.height});
  if (!size) {
    refuse(fmt::format("the transform does not fit an image of {}x{} pixels as record {} is", meta.width, meta.height,
                       first.record));
  }
  return *size;
}

std::uint32_t class_count(const LoaderOptions& options, const Sampler& sampler) {
  std::size_t classes = options.classes;
  if (classes == 0) {
    for (const DatasetShare& share : sampler.shares()) classes = std::max(classes, share.dataset.info().classes.size());
  }
  if (classes == 0) refuse("MixUp and CutMix need the number of classes, which the dataset does not tell");
  return static_cast<std::uint32_t>(std::min<std::size_t>(classes, UINT32_MAX));
}

std::uint32_t part_size(const BatchShape& shape) {
  return (shape.global_batch_size + shape.world_size - 1) / shape.world_size;
}

Device device_of(const LoaderOptions& options) {
  const std::optional<Device> device = device_from_name(options.device);
  if (!device) refuse(fmt::format("there is no device '{}': it is cpu, cuda or cuda:N", options.device));
  if (!device->is_cuda() && options.transport != Transport::automatic) {
    refuse(fmt::format("transport {} is of CUDA devices, not of the CPU", to_string(options.transport)));
  }
  return *device;
}

Device decode_device_of(const LoaderOptions& options, const Device& device) {
  if (options.decode_device.empty()) return device;
  const std::optional<Device> decode = device_from_name(options.decode_device);
  if (!decode || decode->type != device.type) {
    refuse(fmt::format("device '{}' can't make batches for {}", options.decode_device, to_string(device)));
  }
  return *decode;
}

}  // namespace

WorkPlan::WorkPlan(Sampler sampler_, LoaderOptions options_)
    : options(std::move(options_)),
      device(device_of(options)),
      decode_device(decode_device_of(options, device)),
      sampler(std::move(sampler_)),
      shape(shape_of(options)),
      augmenter(options.transform, options.dtype, options.layout) {
  if (options.threads > kMostThreads || options.read_threads > kMostThreads) {
    refuse(fmt::format("more than {} threads make no sense", kMostThreads));
  }
  if (options.prefetch_batches > kMostPrefetch) {
    refuse(fmt::format("more than {} batches ahead make no sense", kMostPrefetch));
  }
  if (options.max_pixels == 0) refuse("images of 0 pixels can't be decoded");
  format = {.image = image_size(augmenter, sampler, options.max_pixels),
            .dtype = options.dtype,
            .layout = options.layout,
            .soft_classes = 0};
  if (!augmenter.mixing().empty()) {
    format.soft_classes = class_count(options, sampler);
    mixer.emplace(augmenter.mixing(), options.dtype, options.layout, format.image, format.soft_classes);
  }
  options.device = to_string(device);
  options.batch_size = part_size(shape);
  options.global_batch_size = shape.global_batch_size;
  if (options.read_threads == 0) options.read_threads = 8;
  choose_work();
}

void WorkPlan::choose_work() {
  const unsigned budget = std::max(cpu_budget() / std::max(options.local_ranks, 1u), 1u);
  const std::uint32_t part = options.batch_size;
  start_threads = options.threads != 0 ? options.threads : budget;
  most_threads = start_threads;
  if (device.is_cuda()) {
    // Records that the CPU has to decode need many threads; others leave most of them asleep.
    chunk_samples = std::clamp(part / std::min(2 * start_threads, kMostDeviceParts), 1u, kMostDeviceChunk);
    if (options.prefetch_batches == 0) {
      options.prefetch_batches =
          std::clamp(2 + (kDeviceSamples + part - 1) / part, kLeastDeviceBatches, kMostDeviceBatches);
    }
    return;
  }
  // Beyond the CPUs there may be something to gain where threads wait for the disk.
  if (options.threads == 0) most_threads = 2 * budget;
  chunk_samples = std::clamp(part / (2 * start_threads), 1u, kMostChunk);
  if (options.prefetch_batches == 0) {
    // Two that are being made beside the one that is used; of small batches as many as keep all threads at work.
    options.prefetch_batches = 2 + (4 * start_threads * chunk_samples + part - 1) / part;
  }
}

}  // namespace imgpack
