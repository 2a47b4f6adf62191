#include "imgpack/loader.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "reader/pipeline/engine.h"

namespace imgpack {

namespace {

std::vector<DatasetShare> one_share(const Dataset& dataset, const std::string& split) {
  std::vector<DatasetShare> shares;
  shares.push_back({.dataset = dataset, .split = split});
  return shares;
}

double seconds(const std::atomic<std::uint64_t>& nanoseconds) {
  return static_cast<double>(nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
}

Error out_of_memory(const WorkPlan& plan) {
  const BatchFormat& format = plan.format;
  const std::size_t sample_bytes = format.image_bytes() + std::size_t{format.soft_classes} * sizeof(float);
  return Error(
      ErrorCode::out_of_memory,
      fmt::format("memory ran out: a batch takes {} bytes, {} are made ahead of their use, and {} threads decode",
                  sample_bytes * plan.options.batch_size, plan.options.prefetch_batches, plan.start_threads));
}

}  // namespace

/// Shared by a loader and its epochs.
struct Loader::State {
  State(Sampler sampler, LoaderOptions options)
      : plan(std::move(sampler), std::move(options)),
        order(plan.sampler.fingerprint()),
        engine(std::make_unique<Engine>(plan, counters)),
        position{.epoch = 0, .samples = 0, .seed = plan.options.seed, .order = order} {}
  ~State() {
    if (!engine->here()) abandon();
  }

  const WorkPlan plan;
  const std::uint64_t order;
  Counters counters;
  std::unique_ptr<Engine> engine;
  std::shared_ptr<Run> run;  ///< that the engine works on
  LoaderState position;      ///< where the consumer stands
  bool restored = false;     ///< position is that of restore(), and no epoch was begun since
  bool begun = false;        ///< an epoch was
  std::uint64_t last_begun = 0;

  std::uint64_t samples() const noexcept { return plan.sampler.samples(); }
  void begin_run();
  void abandon();
  void leave_parent();
};

/// In a child of the process that started the threads, there are none to wait for: the engine and its run, of which a
/// thread may have been changing anything, are left alone for good.
void Loader::State::abandon() {
  static_cast<void>(engine.release());
  static_cast<void>(new std::shared_ptr<Run>(std::move(run)));
  run.reset();
}

/// A child gets an engine of its own.
void Loader::State::leave_parent() {
  if (engine->here()) return;
  auto own = std::make_unique<Engine>(plan, counters);
  abandon();
  engine = std::move(own);
}

/// From where the consumer stands.
void Loader::State::begin_run() {
  run = engine->begin(position.epoch, position.samples, position.seed, order);
}

struct Epoch::State {
  std::shared_ptr<Loader::State> loader;
  std::shared_ptr<Run> run;
  std::uint64_t number = 0;
  std::uint64_t position = 0;  ///< samples delivered
  bool over = false;

  void follow_fork();
  ~State();
};

/// The child goes on where the parent stood, with threads of its own.
void Epoch::State::follow_fork() {
  if (loader->engine->here()) return;
  const bool current = run == loader->run;
  loader->leave_parent();
  static_cast<void>(new std::shared_ptr<Run>(std::move(run)));
  if (!current) return;
  loader->begin_run();
  run = loader->run;
}

Epoch::State::~State() {
  if (run && loader->engine->here()) loader->engine->end(*run);
}

Epoch::Epoch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Epoch::Epoch(Epoch&&) noexcept = default;
Epoch& Epoch::operator=(Epoch&&) noexcept = default;
Epoch::~Epoch() = default;

std::optional<Batch> Epoch::next() {
  State& state = *state_;
  if (state.over) return std::nullopt;
  state.follow_fork();
  state.over = true;  // unless a batch comes
  if (!state.run || state.run != state.loader->run) {
    throw Error(ErrorCode::invalid_argument, fmt::format("epoch {} is over: another one was begun", state.number));
  }
  std::optional<Batch> batch;
  try {
    batch = state.loader->engine->next(*state.run);
  } catch (const std::bad_alloc&) {
    state.loader->engine->end(*state.run);
    throw out_of_memory(state.loader->plan);
  } catch (...) {
    state.loader->engine->end(*state.run);
    throw;
  }
  if (!batch) return batch;
  state.over = false;
  state.loader->position = batch->state();
  state.position = batch->state().epoch == state.number ? batch->state().samples : state.loader->samples();
  return batch;
}

bool Epoch::wait(std::chrono::milliseconds timeout) {
  State& state = *state_;
  if (state.over) return true;
  state.follow_fork();
  if (!state.run || state.run != state.loader->run) return true;
  return state.loader->engine->wait(*state.run, timeout);
}

std::uint64_t Epoch::number() const noexcept {
  return state_->number;
}

std::uint64_t Epoch::batches_left() const noexcept {
  if (state_->over) return 0;
  return batch_count(state_->loader->samples(), state_->position, state_->loader->plan.shape);
}

Epoch::Iterator Epoch::begin() {
  return Iterator(*this);
}

Loader::Loader(const Dataset& dataset, LoaderOptions options) {
  Sampler sampler = Sampler::create(one_share(dataset, options.split), options.sampling, options.seed);
  state_ = std::make_shared<State>(std::move(sampler), std::move(options));
}

Loader::Loader(std::vector<DatasetShare> shares, LoaderOptions options) {
  if (!options.split.empty()) throw Error(ErrorCode::invalid_argument, "each share has a split of its own");
  Sampler sampler = Sampler::create(std::move(shares), options.sampling, options.seed);
  state_ = std::make_shared<State>(std::move(sampler), std::move(options));
}

Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

Epoch Loader::epoch(std::uint64_t number) {
  State& state = *state_;
  if (state.restored && number != state.position.epoch) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the restored state is in epoch {}, not {}", state.position.epoch, number));
  }
  state.leave_parent();
  if (!state.restored) {
    state.position = {.epoch = number, .samples = 0, .seed = state.position.seed, .order = state.order};
  }
  state.begin_run();
  state.restored = false;
  state.begun = true;
  state.last_begun = number;
  auto epoch = std::make_unique<Epoch::State>();
  epoch->loader = state_;
  epoch->run = state.run;
  epoch->number = number;
  epoch->position = state.position.samples;
  return Epoch(std::move(epoch));
}

Epoch Loader::epoch() {
  if (state_->restored || !state_->begun) return epoch(state_->position.epoch);
  return epoch(state_->last_begun + 1);
}

LoaderState Loader::state() const {
  return state_->position;
}

void Loader::restore(const LoaderState& wanted) {
  State& state = *state_;
  if (wanted.order != state.order) {
    throw Error(ErrorCode::invalid_argument,
                "the state is of another dataset, or of another way of sampling it: its order differs from this "
                "loader's");
  }
  if (wanted.samples >= state.samples()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the state stands at sample {} of an epoch of {}", wanted.samples, state.samples()));
  }
  state.leave_parent();
  if (state.run) state.engine->end(*state.run);
  state.run.reset();
  state.position = wanted;
  state.restored = true;
}

std::uint64_t Loader::samples() const noexcept {
  return state_->samples();
}
std::uint64_t Loader::batches() const noexcept {
  return batch_count(state_->samples(), 0, state_->plan.shape);
}
const LoaderOptions& Loader::options() const noexcept {
  return state_->plan.options;
}
const Sampler& Loader::sampler() const noexcept {
  return state_->plan.sampler;
}

LoaderStats Loader::stats() const {
  const Counters& counters = state_->counters;
  LoaderStats stats;
  stats.batches = counters.batches;
  stats.samples = counters.samples;
  stats.damaged = counters.damaged;
  stats.bytes_read = counters.bytes_read;
  stats.page_faults = counters.page_faults;
  stats.read_seconds = seconds(counters.read_ns);
  stats.decode_seconds = seconds(counters.decode_ns);
  stats.mix_seconds = seconds(counters.mix_ns);
  stats.idle_seconds = seconds(counters.idle_ns);
  stats.wait_seconds = seconds(counters.wait_ns);
  if (stats.batches != 0) {
    stats.ready_batches = static_cast<double>(counters.ready_batches.load()) / static_cast<double>(stats.batches);
  }
  if (state_->engine->here()) {
    stats.threads = state_->engine->threads();
    stats.read_ahead = state_->engine->read_ahead();
  }
  return stats;
}

std::vector<Damage> Loader::damage() const {
  if (!state_->engine->here()) return {};
  return state_->engine->damage();
}

}  // namespace imgpack
