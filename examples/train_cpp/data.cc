#include "examples/train_cpp/data.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace trainer {

namespace {

using imgpack::Dataset;
using imgpack::Error;
using imgpack::ErrorCode;
using imgpack::Loader;

std::string loader_device(const Options& options) {
  return options.loader_device.empty() ? options.device : options.loader_device;
}

Loader train_loader(const Dataset& dataset, const Options& options) {
  return {dataset,
          {.split = "train",
           .batch_size = options.batch_size,
           .device = loader_device(options),
           .seed = options.seed,
           .transform = {imgpack::RandomResizedCrop{.size = options.size, .scale = {options.crop_scale, 1}},
                         imgpack::HorizontalFlip{}, imgpack::Normalize::imagenet()},
           .last_batch = imgpack::LastBatch::drop,
           .threads = options.threads}};
}

Loader val_loader(const Dataset& dataset, const Options& options) {
  return {dataset,
          {.split = "val",
           .batch_size = options.batch_size,
           .device = loader_device(options),
           .transform = {imgpack::Resize{.shorter = options.size * 8 / 7}, imgpack::CenterCrop{options.size},
                         imgpack::Normalize::imagenet()},
           .sampling = {.shuffle = imgpack::Shuffle::none},
           .last_batch = imgpack::LastBatch::pad,
           .threads = options.threads,
           .prefetch_next_epoch = false}};
}

std::int64_t count_classes(const Dataset& dataset) {
  const auto named = static_cast<std::int64_t>(dataset.info().classes.size());
  std::int64_t classes = named;
  for (const char* const split : {"train", "val"}) {
    for (const std::int64_t label : dataset.labels(dataset.select(split))) {
      if (label < 0 || (named > 0 && label >= named)) {
        throw Error(ErrorCode::invalid_argument, fmt::format("{} has images without a class", split),
                    {.file = dataset.path().string()});
      }
      classes = std::max(classes, label + 1);
    }
  }
  return classes;
}

double majority_of(const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::size_t> counts;
  std::size_t most = 0;
  for (const std::int64_t label : labels) most = std::max(most, ++counts[label]);
  return static_cast<double>(most) / static_cast<double>(labels.size());
}

}  // namespace

Data open_data(const Options& options) {
  const Dataset dataset = Dataset::open(options.dataset);
  Data data = {.dataset = dataset,
               .classes = count_classes(dataset),
               .majority = 0,
               .train = train_loader(dataset, options),
               .val = val_loader(dataset, options)};
  if (data.train.batches() == 0 || data.val.samples() == 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("train has {} images and val has {}: train needs as many as a batch, {}, and val one",
                            data.train.samples(), data.val.samples(), options.batch_size),
                {.file = options.dataset.string()});
  }
  data.majority = majority_of(dataset.labels(dataset.select("val")));
  return data;
}

}  // namespace trainer
