#include "imgpack/loader.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "reader/loader_internals.h"
#include "reader/pipeline/engine.h"
#include "reader/pipeline/open_device.h"

namespace imgpack {

namespace {

std::vector<DatasetShare> one_share(const Dataset& dataset, const std::string& split) {
  std::vector<DatasetShare> shares;
  shares.push_back({.dataset = dataset, .split = split});
  return shares;
}

Error out_of_memory(const WorkPlan& plan) {
  const BatchFormat& format = plan.format;
  const std::size_t sample_bytes = format.image_bytes() + std::size_t{format.soft_classes} * sizeof(float);
  return Error(
      ErrorCode::out_of_memory,
      fmt::format("memory ran out: a batch takes {} bytes, {} are made ahead of their use, and {} threads decode",
                  sample_bytes * plan.options.batch_size, plan.options.prefetch_batches, plan.start_threads));
}

/// Of what an epoch throws, whatever the system or the library said.
[[noreturn]] void rethrow_as_error(const WorkPlan& plan) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw out_of_memory(plan);
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::io, fmt::format("the loader can't start its threads: {}", error.what()));
  }
}

double seconds(const std::atomic<std::uint64_t>& nanoseconds) {
  return static_cast<double>(nanoseconds.load(std::memory_order_relaxed)) * 1e-9;
}

}  // namespace

/// Shared by a loader and its epochs.
struct Loader::State {
  State(Sampler sampler, LoaderOptions options, const LoaderInternals::OpenDevice& open = {})
      : plan(std::move(sampler), std::move(options)),
        order(plan.sampler.fingerprint()),
        device(open ? share_device(plan, open(plan)) : open_device(plan)),
        engine(Engine::create(plan, counters, device)),
        position{.epoch = 0, .samples = 0, .seed = plan.options.seed, .order = order} {}

  const WorkPlan plan;
  const std::uint64_t order;
  Counters counters;
  const SharedDevice device;
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Run> run;  ///< that the engine works on
  LoaderState position;      ///< where the consumer stands
  bool restored = false;     ///< position is that of restore(), and no epoch was begun since
  bool begun = false;        ///< an epoch was
  std::uint64_t last_begun = 0;

  std::uint64_t samples() const noexcept { return plan.sampler.samples(); }
  void begin_run();
  void leave_parent();
};

/// In a child of the process that started the threads there are none: it gets an engine of its own.
void Loader::State::leave_parent() {
  if (engine->in_own_process()) return;
  if (device) {
    throw Error(ErrorCode::unsupported,
                fmt::format("a loader of {}: CUDA does not work in a child after fork(): start processes with spawn",
                            plan.options.device));
  }
  run.reset();
  engine = Engine::create(plan, counters);
}

/// From where the consumer stands.
void Loader::State::begin_run() {
  run = engine->begin(position.epoch, position.samples, position.seed, order);
}

struct Epoch::State {
  State(std::shared_ptr<Loader::State> loader_, std::uint64_t number_)
      : loader(std::move(loader_)),
        engine(loader->engine),
        run(loader->run),
        number(number_),
        position(loader->position.samples) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (run && engine->in_own_process()) engine->end(*run);
  }

  std::shared_ptr<Loader::State> loader;
  std::shared_ptr<Engine> engine;  ///< that works on the run
  std::shared_ptr<Run> run;
  std::uint64_t number = 0;
  std::uint64_t position = 0;  ///< samples delivered
  bool over = false;

  bool current() const noexcept { return run && run == loader->run; }
  void follow_fork();
};

/// The child goes on where the parent stood, with threads of its own.
void Epoch::State::follow_fork() {
  if (engine->in_own_process()) return;
  const bool goes_on = current();
  run.reset();
  loader->leave_parent();
  engine = loader->engine;
  if (!goes_on) return;
  loader->begin_run();
  run = loader->run;
}

Epoch::Epoch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Epoch::Epoch(Epoch&&) noexcept = default;
Epoch& Epoch::operator=(Epoch&&) noexcept = default;
Epoch::~Epoch() = default;

std::optional<Batch> Epoch::next() {
  State& state = *state_;
  if (state.over) return std::nullopt;
  state.over = true;  // unless a batch comes
  std::optional<Batch> batch;
  try {
    state.follow_fork();
    if (!state.current()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("epoch {} is over: another one was begun, or a state restored", state.number));
    }
    batch = state.engine->next(*state.run);
  } catch (...) {
    if (state.run) state.engine->end(*state.run);
    rethrow_as_error(state.loader->plan);
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
  try {
    state.follow_fork();
  } catch (...) {
    rethrow_as_error(state.loader->plan);
  }
  return !state.current() || state.engine->wait(*state.run, timeout);
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

Loader LoaderInternals::with_device(const Dataset& dataset, LoaderOptions options, const OpenDevice& open) {
  Sampler sampler = Sampler::create(one_share(dataset, options.split), options.sampling, options.seed);
  return Loader(std::make_shared<Loader::State>(std::move(sampler), std::move(options), open));
}

Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;
Loader::~Loader() = default;

Epoch Loader::epoch(std::uint64_t number) {
  State& state = *state_;
  if (state.restored && state.position.samples != 0 && number != state.position.epoch) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the restored state is in epoch {}, not {}", state.position.epoch, number));
  }
  state.leave_parent();
  if (!state.restored || number != state.position.epoch) {
    state.position = {.epoch = number, .samples = 0, .seed = state.position.seed, .order = state.order};
  }
  try {
    state.begin_run();
  } catch (...) {
    rethrow_as_error(state.plan);
  }
  state.restored = false;
  state.begun = true;
  state.last_begun = number;
  return Epoch(std::make_unique<Epoch::State>(state_, number));
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
  stats.device = state_->plan.device;
  stats.device_samples = counters.device_made;
  stats.host_samples = std::max(counters.made.load(), stats.device_samples) - stats.device_samples;
  stats.device_seconds = seconds(counters.device_ns);
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
  if (state_->engine->in_own_process()) {
    stats.threads = state_->engine->threads();
    stats.read_ahead = state_->engine->read_ahead();
    if (state_->device) stats.transport = state_->device->transport_reason();
  }
  return stats;
}

std::vector<Damage> Loader::damage() const {
  if (!state_->engine->in_own_process()) return {};
  return state_->engine->damage();
}

}  // namespace imgpack
