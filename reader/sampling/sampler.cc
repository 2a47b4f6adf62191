#include "imgpack/sampler.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"
#include "reader/sampling/dataset_order.h"
#include "reader/sampling/mixture.h"

namespace imgpack {

namespace {

/// A growing digest of numbers and texts.
class Digest {
 public:
  void add(std::uint64_t value) {
    std::byte bytes[8];
    store_le(bytes, value);
    sum_.update(bytes);
  }
  void add(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    add(bits);
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    sum_.update(std::as_bytes(std::span(text.data(), text.size())));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(std::uint64_t{values.size()});
    for (const T& value : values) add(value);
  }
  std::uint64_t value() const { return sum_.value(); }

 private:
  Checksummer sum_;
};

bool weighted(const DatasetShare& share) noexcept {
  return !share.class_weights.empty() || !share.record_weights.empty();
}

void check(const std::vector<DatasetShare>& shares, const Sampling& sampling) {
  const auto refuse = [](std::string message, ErrorPlace place = {}) {
    throw Error(ErrorCode::invalid_argument, std::move(message), std::move(place));
  };
  if (shares.empty()) refuse("there is no dataset to sample");
  if (shares.size() > Mixture::kPeriod) refuse(fmt::format("at most {} datasets can be mixed", Mixture::kPeriod));
  for (const DatasetShare& share : shares) {
    if (std::isfinite(share.proportion) && share.proportion > 0) continue;
    refuse(fmt::format("its proportion is {}", share.proportion), in_file(share.dataset.path()));
  }
  if (sampling.samples_per_epoch != 0 && shares.size() == 1 && !weighted(shares.front())) {
    refuse("samples_per_epoch is for weights or several datasets: else an epoch has each record once");
  }
}

}  // namespace

struct Sampler::State {
  std::vector<DatasetShare> shares;
  Sampling sampling;
  std::uint64_t samples = 0;
  std::vector<DatasetOrder> orders;
  std::optional<Mixture> mixture;
};

Sampler::Sampler(std::shared_ptr<const State> state, std::uint64_t seed) : state_(std::move(state)), seed_(seed) {}

Sampler Sampler::create(std::vector<DatasetShare> shares, const Sampling& sampling, std::uint64_t seed) {
  check(shares, sampling);
  auto state = std::make_shared<State>();
  std::vector<double> proportions;
  for (const DatasetShare& share : shares) {
    state->orders.emplace_back(share, sampling);
    state->samples += state->orders.back().size();
    proportions.push_back(share.proportion);
  }
  if (sampling.samples_per_epoch != 0) state->samples = sampling.samples_per_epoch;
  if (shares.size() > 1) state->mixture.emplace(proportions);
  state->shares = std::move(shares);
  state->sampling = sampling;
  return Sampler(std::move(state), seed);
}

Sampler Sampler::with_seed(std::uint64_t seed) const {
  return Sampler(state_, seed);
}

std::uint64_t Sampler::samples() const noexcept {
  return state_->samples;
}
std::uint64_t Sampler::seed() const noexcept {
  return seed_;
}
const std::vector<DatasetShare>& Sampler::shares() const noexcept {
  return state_->shares;
}

Sample Sampler::at(std::uint64_t epoch, std::uint64_t position) const {
  Sample sample;
  fill(epoch, position, {&sample, 1});
  return sample;
}

void Sampler::fill(std::uint64_t epoch, std::uint64_t begin, std::span<Sample> out) const {
  const State& state = *state_;
  if (!state.mixture) {
    OrderCursor cursor(state.orders.front(), seed_, epoch, 0);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = cursor.at(0, begin + i);
    return;
  }
  // Passes go on through the epochs: their keys are those of epoch 0, and the pass.
  std::vector<OrderCursor> cursors;
  for (std::uint32_t i = 0; i < state.orders.size(); ++i) cursors.emplace_back(state.orders[i], seed_, 0, i);
  MixtureCursor mixture(*state.mixture, seed_);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const MixtureCursor::Place place = mixture.at(epoch * state.samples + begin + i);
    const DatasetOrder& order = state.orders[place.dataset];
    OrderCursor& cursor = cursors[place.dataset];
    out[i] = order.weighted() ? cursor.at(0, place.number)
                              : cursor.at(place.number / order.size(), place.number % order.size());
  }
}

std::optional<SampleWindow> Sampler::window(std::uint64_t epoch, std::uint64_t position) const {
  const DatasetOrder& order = state_->orders.front();
  if (state_->mixture || !order.in_blocks()) return std::nullopt;
  return OrderCursor(order, seed_, epoch, 0).window(position);
}

std::uint64_t Sampler::fingerprint() const {
  const State& state = *state_;
  Digest digest;
  digest.add(std::uint64_t{state.shares.size()});
  for (std::size_t i = 0; i < state.shares.size(); ++i) {
    const DatasetShare& share = state.shares[i];
    digest.add(share.dataset.fingerprint());
    digest.add(share.dataset.size());
    digest.add(std::string_view(share.split));
    digest.add(state.mixture ? state.mixture->counts()[i] : 0);
    if (!state.orders[i].weighted()) {  // else draws are independent, and none of this is of meaning
      digest.add(std::uint64_t{static_cast<std::uint8_t>(state.sampling.shuffle)});
      digest.add(state.orders[i].block_records());
      digest.add(state.orders[i].window_blocks());
    }
    digest.add(share.records);
    digest.add(share.class_weights);
    digest.add(share.record_weights);
  }
  digest.add(state.samples);
  return digest.value();
}

}  // namespace imgpack
