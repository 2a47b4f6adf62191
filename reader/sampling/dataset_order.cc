#include "reader/sampling/dataset_order.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/paths.h"
#include "reader/random/random_stream.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kBlockBytes = 4u << 20;  ///< of payload, where the caller does not choose

[[noreturn]] void refuse(std::string message, const DatasetShare& share) {
  throw Error(ErrorCode::invalid_argument, std::move(message), in_file(share.dataset.path()));
}

void check_weights(std::span<const double> weights, const DatasetShare& share) {
  bool any = false;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0) refuse(fmt::format("a weight is {}", weight), share);
    any = any || weight > 0;
  }
  if (!any) refuse("all weights are 0", share);
}

}  // namespace

DatasetOrder::DatasetOrder(const DatasetShare& share, const Sampling& sampling) : shuffle_(sampling.shuffle) {
  choose_records(share);
  if (size_ == 0) refuse("there are no records to sample", share);
  if (shuffle_ == Shuffle::block) choose_blocks(share, sampling);
  choose_weights(share);
}

void DatasetOrder::choose_records(const DatasetShare& share) {
  if (share.records.empty()) {
    ranges_ = share.dataset.select(share.split);
    for (const RecordRange& range : ranges_) {
      range_begins_.push_back(size_);
      size_ += range.size();
    }
    return;
  }
  if (!share.split.empty()) refuse("either a split or a list of records can be sampled, not both", share);
  for (const std::uint64_t record : share.records) {
    if (record >= share.dataset.size()) {
      refuse(fmt::format("the list names record {}, but there are only {}", record, share.dataset.size()), share);
    }
  }
  list_ = share.records;
  size_ = list_.size();
  std::vector<std::uint64_t> sorted = list_;
  std::sort(sorted.begin(), sorted.end());
  repeats_ = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void DatasetOrder::choose_blocks(const DatasetShare& share, const Sampling& sampling) {
  if (sampling.window_blocks == 0) refuse("a window of 0 blocks holds nothing", share);
  block_records_ = sampling.block_records;
  if (block_records_ == 0) {
    const DatasetInfo& info = share.dataset.info();
    const std::uint64_t mean = info.records == 0 ? 0 : info.payload_bytes / info.records;
    block_records_ = std::max<std::uint64_t>(kBlockBytes / std::max<std::uint64_t>(mean, 1), 1);
  }
  block_records_ = std::min(block_records_, size_);
  window_blocks_ = std::min(sampling.window_blocks, size_ / block_records_);
}

void DatasetOrder::choose_weights(const DatasetShare& share) {
  if (!share.record_weights.empty() && !share.class_weights.empty()) {
    refuse("weights are for each class or for each record, not both", share);
  }
  if (!share.record_weights.empty()) {
    if (share.record_weights.size() != size_) {
      refuse(fmt::format("there are {} weights for {} records", share.record_weights.size(), size_), share);
    }
    check_weights(share.record_weights, share);
    weights_ = AliasTable(share.record_weights);
  } else if (!share.class_weights.empty()) {
    check_weights(share.class_weights, share);
    std::vector<double> weights(size_);
    for (std::uint64_t index = 0; index < size_; ++index) {
      const std::int64_t label = share.dataset.store().meta(record(index)).label;
      if (label < 0 || static_cast<std::uint64_t>(label) >= share.class_weights.size()) {
        refuse(fmt::format("record {} has the label {}, for which there is no weight", record(index), label), share);
      }
      weights[index] = share.class_weights[static_cast<std::size_t>(label)];
    }
    check_weights(weights, share);
    weights_ = AliasTable(weights);
  }
}

std::uint64_t DatasetOrder::record(std::uint64_t index) const noexcept {
  if (!list_.empty()) return list_[index];
  if (ranges_.size() == 1) return ranges_.front().begin + index;
  const auto after = std::upper_bound(range_begins_.begin(), range_begins_.end(), index);
  const auto range = static_cast<std::size_t>(after - range_begins_.begin()) - 1;
  return ranges_[range].begin + (index - range_begins_[range]);
}

void DatasetOrder::append_ranges(std::uint64_t begin, std::uint64_t end, std::vector<RecordRange>& out) const {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const std::uint64_t first = std::max(begin, range_begins_[i]);
    const std::uint64_t last = std::min(end, range_begins_[i] + ranges_[i].size());
    if (first >= last) continue;
    out.push_back(
        {.begin = ranges_[i].begin + (first - range_begins_[i]), .end = ranges_[i].begin + (last - range_begins_[i])});
  }
}

void OrderCursor::begin_pass(std::uint64_t pass) {
  pass_ = pass;
  key_ = random_key(seed_, epoch_, RandomPurpose::order, dataset_, pass);
  if (order_->shuffle() == Shuffle::full) {
    all_.emplace(order_->size(), key_);
  } else if (order_->shuffle() == Shuffle::block) {
    all_.emplace(order_->size() / order_->block_records(), key_);
    shift_ = RandomStream(key_, 0, 1).below(order_->size());
    window_.reset();
  }
}

/// Windows are as few as hold all blocks, and their numbers of blocks differ by one at most.
OrderCursor::WindowPlace OrderCursor::window_at(std::uint64_t position) const noexcept {
  const std::uint64_t block = order_->block_records();
  const std::uint64_t blocks = all_->size();
  const std::uint64_t windows = (blocks - 1) / order_->window_blocks() + 1;
  const std::uint64_t less = blocks / windows;  // blocks of a smaller window
  const std::uint64_t larger = blocks % windows;
  const std::uint64_t at = std::min(position / block, blocks - 1);
  const std::uint64_t number = at < larger * (less + 1) ? at / (less + 1) : (at - larger) / less;
  const auto begin_of = [&](std::uint64_t window) { return (window * less + std::min(window, larger)) * block; };
  return {.number = number,
          .begin = begin_of(number),
          .end = number + 1 == windows ? order_->size() : begin_of(number + 1)};
}

/// Blocks begin `shift` records into the order, which is taken as a ring; what is left behind the last whole block
/// belongs to the last window. So no record has a place that it is found at more often than others.
std::uint64_t OrderCursor::index_at(std::uint64_t place) const noexcept {
  const std::uint64_t block = order_->block_records();
  const std::uint64_t number = place / block;
  const std::uint64_t unshifted = number < all_->size() ? (*all_)(number)*block + place % block : place;
  return (unshifted + shift_) % order_->size();
}

std::uint64_t OrderCursor::blockwise(std::uint64_t pass, std::uint64_t position) {
  const WindowPlace place = window_at(position);
  if (!window_ || window_number_ != place.number) {
    window_number_ = place.number;
    window_.emplace(place.end - place.begin,
                    random_key(seed_, epoch_, RandomPurpose::window, dataset_, pass) + place.number);
  }
  return index_at(place.begin + (*window_)(position - place.begin));
}

SampleWindow OrderCursor::window(std::uint64_t position) {
  if (pass_ != 0) begin_pass(0);
  const WindowPlace place = window_at(position);
  SampleWindow window{.end = place.end, .records = {}};
  for (std::uint64_t at = place.begin; at < place.end;) {
    const std::uint64_t end = std::min(at + order_->block_records(), place.end);
    const std::uint64_t begin_index = index_at(at);
    const std::uint64_t before_edge = std::min(end - at, order_->size() - begin_index);
    order_->append_ranges(begin_index, begin_index + before_edge, window.records);
    order_->append_ranges(0, end - at - before_edge, window.records);
    at = end;
  }
  return window;
}

Sample OrderCursor::at(std::uint64_t pass, std::uint64_t position) {
  Sample sample{.record = 0, .dataset = dataset_, .padding = false, .draw = pass};
  if (order_->weighted()) {
    RandomStream stream(random_key(seed_, epoch_, RandomPurpose::draws, dataset_), position, 0);
    sample.record = order_->record(order_->weights().draw(stream));
    sample.draw = position + 1;
    return sample;
  }
  if (pass_ != pass) begin_pass(pass);
  std::uint64_t index = position;
  if (order_->shuffle() == Shuffle::full) index = (*all_)(position);
  if (order_->shuffle() == Shuffle::block) index = blockwise(pass, position);
  sample.record = order_->record(index);
  if (order_->repeats()) sample.draw = pass * order_->size() + index;
  return sample;
}

}  // namespace imgpack
