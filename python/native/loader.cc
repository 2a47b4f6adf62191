// A loader and its epochs, safe under Python's threads: a mutex for each loader, which is held without the GIL only.
#include "imgpack/loader.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "imgpack/error.h"
#include "python/native/background.h"
#include "python/native/bindings.h"
#include "python/native/loader_options.h"
#include "python/native/released.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

/// How long a waiting thread leaves Ctrl-C unanswered.
constexpr std::chrono::milliseconds kSlice{50};

struct SharedLoader {
  SharedLoader(std::vector<DatasetShare> shares, LoaderOptions options)
      : loader(std::move(shares), std::move(options)) {}

  /// The mutex of this process. REQUIRES: the GIL.
  std::mutex& mutex();

  Loader loader;

 private:
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  pid_t process_ = ::getpid();
};

/// A thread that the child of a fork does not have may hold the parent's mutex: that one is left alone for good.
std::mutex& SharedLoader::mutex() {
  if (process_ != ::getpid()) {
    static_cast<void>(mutex_.release());
    mutex_ = std::make_unique<std::mutex>();
    process_ = ::getpid();
  }
  return *mutex_;
}

/// What a call into a loader needs: no GIL, then the mutex.
class Entered {
 public:
  explicit Entered(SharedLoader& shared) : mutex_(shared.mutex()), lock_(mutex_) {}

 private:
  std::mutex& mutex_;
  // In this order: nobody waits for the GIL while it has the mutex.
  Released released_;
  std::lock_guard<std::mutex> lock_;
};

class PythonEpoch {
 public:
  PythonEpoch(std::shared_ptr<SharedLoader> shared, Epoch epoch)
      : shared_(std::move(shared)), number_(epoch.number()), epoch_(std::move(epoch)) {}
  PythonEpoch(PythonEpoch&&) noexcept = default;
  /// Threads may have to be waited for, and whoever comes last destroys the loader.
  ~PythonEpoch() {
    if (!shared_) return;  // moved from
    std::mutex& mutex = shared_->mutex();
    const Released released;
    {
      const std::lock_guard lock(mutex);
      epoch_.reset();
    }
    shared_.reset();
  }

  Batch next() {
    std::optional<std::optional<Batch>> batch;
    while (!(batch = next_within(kSlice))) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    if (!*batch) throw nb::stop_iteration();
    return std::move(**batch);
  }

  std::uint64_t batches_left() const {
    const Entered entered(*shared_);
    return epoch_->batches_left();
  }

  std::uint64_t number() const noexcept { return number_; }

 private:
  /// Nothing if there is none yet; a batch, or nothing in it at the end.
  std::optional<std::optional<Batch>> next_within(std::chrono::milliseconds time) {
    const Entered entered(*shared_);
    if (!epoch_->wait(time)) return std::nullopt;
    return epoch_->next();
  }

  std::shared_ptr<SharedLoader> shared_;
  std::uint64_t number_;
  std::optional<Epoch> epoch_;
};

class PythonLoader {
 public:
  PythonLoader(std::vector<DatasetShare> shares, LoaderOptions options) {
    const Released released;
    shared_ = std::make_shared<SharedLoader>(std::move(shares), std::move(options));
  }

  PythonLoader(PythonLoader&&) noexcept = default;
  /// Waits for its threads, if no epoch is left.
  ~PythonLoader() {
    if (!shared_) return;
    const Released released;
    shared_.reset();
  }

  PythonEpoch epoch(std::optional<std::uint64_t> number) {
    const Entered entered(*shared_);
    used_ = true;
    return PythonEpoch(shared_, number ? shared_->loader.epoch(*number) : shared_->loader.epoch());
  }

  std::string state() const {
    const Entered entered(*shared_);
    return shared_->loader.state().to_json();
  }

  void restore(const std::string& state) {
    const Entered entered(*shared_);
    shared_->loader.restore(LoaderState::from_json(state));
    used_ = true;
  }

  /// Whether an epoch was begun or a state restored: only then does its state say more than its arguments.
  bool used() const noexcept { return used_; }

  /// Its functions here are thread-safe by themselves.
  const Loader& loader() const noexcept { return shared_->loader; }

 private:
  std::shared_ptr<SharedLoader> shared_;
  bool used_ = false;
};

nb::dict stats_dict(const LoaderStats& stats) {
  nb::dict dict;
  dict["device"] = text(to_string(stats.device));
  dict["transport"] = text(stats.transport);
  dict["device_samples"] = stats.device_samples;
  dict["host_samples"] = stats.host_samples;
  dict["device_seconds"] = stats.device_seconds;
  dict["batches"] = stats.batches;
  dict["samples"] = stats.samples;
  dict["damaged"] = stats.damaged;
  dict["bytes_read"] = stats.bytes_read;
  dict["read_seconds"] = stats.read_seconds;
  dict["decode_seconds"] = stats.decode_seconds;
  dict["mix_seconds"] = stats.mix_seconds;
  dict["idle_seconds"] = stats.idle_seconds;
  dict["wait_seconds"] = stats.wait_seconds;
  dict["ready_batches"] = stats.ready_batches;
  dict["threads"] = stats.threads;
  dict["page_faults"] = stats.page_faults;
  dict["read_ahead"] = stats.read_ahead;
  return dict;
}

}  // namespace

void bind_loader(nb::module_& module) {
  bind_loader_options(module);
  nb::class_<PythonEpoch>(module, "Epoch", "A pass over the data; deleting it stops the work for it.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __iter__(self) -> Epoch"))
      .def("__next__", &PythonEpoch::next)
      .def("__len__", &PythonEpoch::batches_left)
      .def_prop_ro("number", &PythonEpoch::number);
  nb::class_<PythonLoader>(module, "Loader", "What imgpack.Loader is made of.")
      .def(nb::init<std::vector<DatasetShare>, LoaderOptions>(), nb::arg("shares"), nb::arg("options"))
      .def("epoch", &PythonLoader::epoch, nb::arg("number").none() = nb::none(), "The next one, or that number.")
      .def("state", &PythonLoader::state, "As JSON.")
      .def("restore", &PythonLoader::restore, nb::arg("state"))
      .def_prop_ro("used", &PythonLoader::used, "Whether an epoch was begun, or a state restored.")
      .def(
          "stats", [](const PythonLoader& self) { return stats_dict(self.loader().stats()); },
          nb::sig("def stats(self) -> dict[str, int | float | bool | str]"))
      .def("damage", [](const PythonLoader& self) { return self.loader().damage(); })
      .def_prop_ro(
          "samples", [](const PythonLoader& self) { return self.loader().samples(); }, "Of an epoch.")
      .def_prop_ro(
          "batches", [](const PythonLoader& self) { return self.loader().batches(); }, "Of an epoch.");
}

}  // namespace imgpack::python
