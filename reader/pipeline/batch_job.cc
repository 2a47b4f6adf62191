#include "reader/pipeline/batch_job.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "imgpack/record.h"
#include "reader/random/random_stream.h"
#include "reader/record_error.h"

namespace imgpack {

BatchJob::BatchJob(const WorkPlan& plan, const Place& place, BatchPool& pool)
    : plan_(plan), place_(place), part_(batch_part(plan.sampler.samples(), place.first, plan.shape)) {
  draw_samples();
  labels_.assign(samples_.size(), kNoLabel);
  const auto room = static_cast<std::uint32_t>(samples_.size());
  memory_ = pool.take(static_cast<std::uint32_t>(part_.size()), room);
  if (pool.device() != nullptr) device_ = pool.device()->begin(*memory_->device, room);
  chunks_ = (samples_.size() + plan.chunk_samples - 1) / plan.chunk_samples;
  fetched_.resize(chunks_);
  describe();
}

void BatchJob::draw_samples() {
  const Sampler sampler = plan_.sampler.with_seed(place_.seed);
  const std::uint64_t all = sampler.samples();
  // A rank that has the whole batch has the first sample's predecessor too: the last one.
  const bool whole = part_.begin == part_.global_begin && part_.end == part_.global_end && part_.padding == 0;
  has_neighbour_ = plan_.mixer && !whole;
  samples_.resize(static_cast<std::size_t>(part_.size()) + (has_neighbour_ ? 1 : 0));
  const std::size_t own = static_cast<std::size_t>(part_.end - part_.begin);
  sampler.fill(place_.epoch, part_.begin, std::span(samples_).first(own));
  for (std::size_t i = 0; i < part_.padding; ++i) {  // goes on with what comes next, from the beginning if need be
    samples_[own + i] = sampler.at(place_.epoch, (part_.end + i) % all);
    samples_[own + i].padding = true;
  }
  if (has_neighbour_) {
    const std::uint64_t previous = part_.begin > part_.global_begin ? part_.begin - 1 : part_.global_end - 1;
    samples_.back() = sampler.at(place_.epoch, previous);
  }
}

void BatchJob::describe() {
  memory_->epoch = place_.epoch;
  memory_->step = place_.first / plan_.shape.global_batch_size;
  const bool last = batch_count(plan_.sampler.samples(), part_.global_end, plan_.shape) == 0;
  memory_->after = {.epoch = place_.epoch + (last ? 1 : 0),
                    .samples = last ? 0 : part_.global_end,
                    .seed = place_.seed,
                    .order = place_.order};
  for (std::size_t i = 0; i < memory_->size; ++i) {
    memory_->records[i] = samples_[i].record;
    memory_->datasets[i] = samples_[i].dataset;
    memory_->mask[i] = samples_[i].padding ? 0 : 1;
  }
}

std::uint64_t BatchJob::augment_key(const Sample& sample) const noexcept {
  return random_key(place_.seed, place_.epoch, RandomPurpose::augment, sample.dataset, sample.draw);
}

std::pair<std::size_t, std::size_t> BatchJob::chunk(std::size_t number) const noexcept {
  const std::size_t begin = number * plan_.chunk_samples;
  return {begin, std::min(begin + plan_.chunk_samples, samples_.size())};
}

void BatchJob::fail(std::size_t index, Error error) {
  const std::lock_guard lock(mutex_);
  failures_.emplace_back(index, std::move(error));
}

void BatchJob::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

/// Labels go along, as far as they are known: damage that only the device will find changes them.
void BatchJob::submit() noexcept {
  try {
    if (error_) return;
    if (failures_.empty()) {
      try {
        make_labels();
      } catch (const Error&) {  // of a label that is no class; if it is of a damaged record, it will not matter
        labels_made_ = false;
      }
    }
    device_->submit(labels_of_batch());
    queued_ = true;
  } catch (...) {
    fail(std::current_exception());
  }
}

void BatchJob::finish() noexcept {
  const bool submitted = queued_;
  try {
    if (submitted) {
      device_->wait();
      queued_ = false;
      collect_device_damage();
    }
    if (!error_) mend();
    if (queued_) device_->wait();
    if (submitted) device_seconds_ = device_->device_seconds();
  } catch (...) {
    fail(std::current_exception());
  }
  device_.reset();
}

void BatchJob::collect_device_damage() {
  const std::size_t known = failures_.size();
  for (std::size_t index = 0; index < samples_.size(); ++index) {
    const std::optional<std::string> reason = device_->damaged(index);
    if (!reason) continue;
    const auto end = failures_.begin() + static_cast<std::ptrdiff_t>(known);
    if (std::any_of(failures_.begin(), end, [&](const auto& failure) { return failure.first == index; })) continue;
    const Sample& sample = samples_[index];
    failures_.emplace_back(index, record_error(plan_.sampler.shares()[sample.dataset].dataset.store(), sample.record,
                                               ImageResult{ImageStatus::damaged, *reason}));
  }
}

/// Damage, then labels, then mixing.
void BatchJob::mend() {
  std::sort(failures_.begin(), failures_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!failures_.empty() && plan_.options.on_damage == OnDamage::stop) {
    error_ = std::make_exception_ptr(failures_.front().second);
    return;
  }
  std::vector<std::size_t> failed;
  for (const auto& [index, error] : failures_) {
    failed.push_back(index);
    // The neighbour that is mixed in is reported where it belongs.
    if (index < memory_->size) damage_.push_back(damage_of(error));
  }
  const bool any_good = substitute(failed);
  memory_->skipped = static_cast<std::uint32_t>(damage_.size());
  if (!labels_made_ || !failed.empty()) {
    if (any_good) {
      make_labels();
    } else {
      std::copy_n(labels_.begin(), memory_->size, memory_->labels.begin());
      std::fill(memory_->soft_labels.begin(), memory_->soft_labels.end(), 0.0F);
    }
    if (device_) {
      device_->set_labels(labels_of_batch());
      queued_ = true;
    }
  }
  if (any_good && plan_.mixer) mix_images();
}

/// A copy of the nearest good sample before it, or else of the first good one, takes the place of each that failed.
bool BatchJob::substitute(std::span<const std::size_t> failed) {
  if (failed.empty()) return true;
  std::vector<bool> good(samples_.size(), true);
  for (const std::size_t index : failed) good[index] = false;
  const auto first_good = std::find(good.begin(), good.end(), true);
  for (const std::size_t index : failed) {
    if (index < memory_->size) memory_->mask[index] = 0;
    if (first_good == good.end()) {  // nothing but damage: a black image without a label
      clear_image(index);
      labels_[index] = kNoLabel;
      continue;
    }
    // In ascending order: what stands before it is good by now, unless there is nothing before it.
    const std::size_t from =
        index > 0 && good[index - 1] ? index - 1 : static_cast<std::size_t>(first_good - good.begin());
    copy_image(index, from);
    labels_[index] = labels_[from];
    good[index] = true;
  }
  return first_good != good.end();
}

void BatchJob::copy_image(std::size_t to, std::size_t from) {
  if (device_) {
    device_->copy_image(to, from);
    queued_ = true;
  } else {
    std::memcpy(image(to), image(from), memory_->format.image_bytes());
  }
}

void BatchJob::clear_image(std::size_t index) {
  if (device_) {
    device_->clear_image(index);
    queued_ = true;
  } else {
    std::memset(image(index), 0, memory_->format.image_bytes());
  }
}

Mix BatchJob::drawn_mix() const {
  return plan_.mixer->draw(random_key(place_.seed, place_.epoch, RandomPurpose::batch), part_.global_begin);
}

void BatchJob::make_labels() {
  std::copy_n(labels_.begin(), memory_->size, memory_->labels.begin());
  if (plan_.mixer) plan_.mixer->mix_labels(drawn_mix(), memory_->labels, labels_.back(), memory_->soft_labels);
  labels_made_ = true;
}

void BatchJob::mix_images() {
  const Mix drawn = drawn_mix();
  if (device_) {
    if (drawn.kind == Mix::Kind::none) return;
    device_->mix(drawn, memory_->size, has_neighbour_ ? std::optional(samples_.size() - 1) : std::nullopt);
    queued_ = true;
    return;
  }
  const std::byte* const previous = has_neighbour_ ? image(samples_.size() - 1) : nullptr;
  plan_.mixer->mix_images(drawn, memory_->first_image(), memory_->size, previous);
}

BatchLabels BatchJob::labels_of_batch() const noexcept {
  return {.labels = memory_->labels, .mask = memory_->mask, .soft_labels = memory_->soft_labels};
}

Batch BatchJob::take() {
  if (error_) std::rethrow_exception(error_);
  return Batch(std::move(memory_));
}

}  // namespace imgpack
