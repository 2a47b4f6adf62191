// Ready batches, epoch after epoch: shuffled, decoded and augmented on threads, delivered in order.
//
//   auto data = imgpack::Dataset::open("imagenet.rec");
//   imgpack::Loader loader(data, {.split = "train", .batch_size = 256, .seed = 1,
//                                 .transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}});
//   for (std::uint64_t e = 0; e < 90; ++e) {
//     for (auto& batch : loader.epoch(e)) train(batch);
//   }
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "imgpack/dataset.h"
#include "imgpack/device.h"
#include "imgpack/loader_state.h"
#include "imgpack/sampler.h"

namespace imgpack {

/// What a record that can't be decoded, or fails its checksum, means.
enum class OnDamage : std::uint8_t {
  stop,  ///< next() throws when its batch is due; the batches before it are delivered
  /// A copy of another sample of its batch, masked, stands in its place, and damage() lists it. Which sample that is,
  /// and what MixUp and CutMix make of it, may depend on the number of ranks.
  skip,
};

/// How payloads come from disk.
enum class ReadMode : std::uint8_t {
  automatic,   ///< mapped; with read-ahead in epochs in which many pages turn out to be missing from memory
  mapped,      ///< mapped, without read-ahead: the dataset is in memory
  ahead,       ///< mapped, with read-ahead from the beginning
  unbuffered,  ///< by threads of their own, past the page cache: datasets larger than memory
};
std::string_view to_string(ReadMode mode) noexcept;
std::optional<ReadMode> read_mode_from_name(std::string_view name) noexcept;

/// How records come to a CUDA device.
enum class Transport : std::uint8_t {
  automatic,  ///< the first of these that the machine, the dataset and the limits allow; LoaderStats says which, and
              ///< why
  zero_copy,  ///< the dataset's mapping is registered with the device, which fetches the bytes it needs by itself
  pinned,     ///< threads copy what is needed of records into pinned memory, where the device reads it
  gds,        ///< GPUDirect Storage: raw images from disk to the device; JPEGs as with pinned
};
/// "auto", "zero_copy", "pinned", "gds".
std::string_view to_string(Transport transport) noexcept;
std::optional<Transport> transport_from_name(std::string_view name) noexcept;

struct LoaderOptions {
  std::string split = {};        ///< "" for all records
  std::uint32_t batch_size = 0;  ///< of each rank; 0: 64, or what global_batch_size says
  /// Of all ranks together, who share it as evenly as it goes; 0: batch_size x world_size. The same global batch size
  /// on another number of ranks gives the same global batches.
  std::uint32_t global_batch_size = 0;
  /// "cpu", "cuda:N", or "cuda", which is "cuda:0": where batches are made and handed out. A CUDA device decodes
  /// baseline JPEGs with a segment index and raw images; of other records the CPU makes the finished image.
  std::string device = "cpu";
  std::string decode_device = {};  ///< "cuda:M": makes batches for another CUDA `device`; "": that one does
  Transport transport = Transport::automatic;
  /// About how many bytes of device memory decoding may take besides the batches, all batches in flight together; less
  /// than 100 MB is not possible. 0: chosen.
  std::uint64_t device_memory = 0;
  /// Most bytes of the dataset's files that may be registered with CUDA, and so can't leave memory; 0: half of what is
  /// free.
  std::uint64_t registered_memory = 0;
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::vector<Augmentation> transform = {};  ///< without one all images must have one size
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  Sampling sampling = {};
  LastBatch last_batch = LastBatch::partial;
  std::uint32_t classes = 0;  ///< of soft labels; 0: as many as the dataset names
  /// Threads that decode; 0: found by trying while running. It begins with the CPUs that this process may use, divided
  /// by local_ranks, and goes up to twice as many where that delivers more (threads that wait for a disk). With a CUDA
  /// device as many as CPUs; those that it leaves without work sleep.
  unsigned threads = 0;
  unsigned local_ranks = 1;            ///< processes with a loader on this machine
  std::uint32_t prefetch_batches = 0;  ///< made ahead of the consumer, at most 2^20; 0: a few
  /// While the last batches of one epoch are used, make the first of the next, up to prefetch_batches together. Of no
  /// use, and their memory stays taken, for a program that repeats one epoch number or ends after it.
  bool prefetch_next_epoch = true;
  OnDamage on_damage = OnDamage::stop;
  bool verify_checksums = false;  ///< of each record that is read
  ReadMode read = ReadMode::automatic;
  unsigned read_threads = 0;                     ///< with ReadMode::unbuffered; 0: 8
  std::uint64_t max_pixels = kDefaultMaxPixels;  ///< larger images count as damaged
};

/// Time spent since the loader was made, over all threads, and what waited for what.
struct LoaderStats {
  Device device;                     ///< where batches are
  std::string transport = {};        ///< how records come to a CUDA device, and why so; empty on the CPU
  std::uint64_t device_samples = 0;  ///< made by the CUDA device, whether they are delivered or not
  std::uint64_t host_samples = 0;    ///< made by CPU threads
  double device_seconds = 0;         ///< of the CUDA device for finished batches; batches in flight overlap
  std::uint64_t batches = 0;         ///< delivered
  std::uint64_t samples = 0;
  std::uint64_t damaged = 0;      ///< of these, replaced by copies of others
  std::uint64_t bytes_read = 0;   ///< of records
  double read_seconds = 0;        ///< unbuffered reads; what the mapping waits for is part of decode_seconds
  double decode_seconds = 0;      ///< from a record's bytes to its place in the batch, as far as CPU threads do it
  double mix_seconds = 0;         ///< what is done to whole batches
  double idle_seconds = 0;        ///< threads without work: the consumer is the bound, or a CUDA device
  double wait_seconds = 0;        ///< the consumer in next(): the loader is the bound
  double ready_batches = 0;       ///< mean number of finished batches that waited for the consumer
  unsigned threads = 0;           ///< at work now
  std::uint64_t page_faults = 0;  ///< that had to read from disk
  bool read_ahead = false;        ///< on, in the epoch that was begun last
};

/// A pass over the data. Move-only; destroying it, early or not, stops the work for it. One a loader at a time:
/// beginning another ends this one, whose next() then throws invalid_argument. Not thread-safe.
class Epoch {
 public:
  class Iterator;

  Epoch(Epoch&&) noexcept;
  Epoch& operator=(Epoch&&) noexcept;
  ~Epoch();

  /// The next batch, or nothing at the end. Throws damaged, unsupported, out_of_memory, io, or invalid_argument where
  /// an image does not fit the transform; after an exception the epoch is at its end.
  std::optional<Batch> next();
  /// Waits until next() would not wait, for `timeout` at most; whether it would not.
  bool wait(std::chrono::milliseconds timeout);

  std::uint64_t number() const noexcept;
  /// Batches of this rank that are left.
  std::uint64_t batches_left() const noexcept;

  /// Asks for a batch: once for each epoch.
  Iterator begin();
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  friend class Loader;
  struct State;
  explicit Epoch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// An input iterator: each step asks for the next batch.
class Epoch::Iterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  explicit Iterator(Epoch& epoch) : epoch_(&epoch), batch_(epoch.next()) {}
  Batch& operator*() const { return *batch_; }
  Batch* operator->() const { return &*batch_; }
  Iterator& operator++() {
    batch_.reset();  // its memory can be used for what comes
    batch_ = epoch_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !batch_.has_value(); }

 private:
  Epoch* epoch_;
  mutable std::optional<Batch> batch_;
};

/// Move-only; not thread-safe, but different loaders are independent of each other: nothing is global. After fork() a
/// child may go on using it: threads are started anew there. With a CUDA device it may not, since CUDA does not work
/// there: epochs throw unsupported, and destroying is all that may be done.
///
/// Memory: (prefetch_batches + 1 + batches that the consumer keeps) x bytes of a batch, and for each thread a few rows
/// of the largest source image, or up to 16 bytes a pixel of images without segment index; with ReadMode::unbuffered
/// the records of prefetch_batches besides. On a CUDA device the batches are there, and device_memory besides; it is
/// given back when loader, epochs and batches are gone.
class Loader {
 public:
  /// Throws invalid_argument, not_found (split), unsupported (no such device, or not in this build; a transport that is
  /// not possible), io and out_of_memory of a device, and damaged or out_of_memory (more than max_pixels): without a
  /// transform that gives images one size, the first record tells it.
  Loader(const Dataset& dataset, LoaderOptions options);
  /// Several datasets mixed, or lists of records, or weights; options.split must be empty, since each share has its
  /// own.
  Loader(std::vector<DatasetShare> shares, LoaderOptions options);
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  ~Loader();

  /// Begins epoch `number`; throws io if no thread can be started. After restore() in mid-epoch, goes on where the
  /// state stands, and throws invalid_argument for the number of another epoch.
  Epoch epoch(std::uint64_t number);
  /// The epoch after the last one that was begun; at first epoch 0, after restore() the rest of the state's.
  Epoch epoch();

  /// Where the consumer stands: Batch::state() of the last batch that next() gave. For a program that fetches batches
  /// ahead of their use, the batch's own state is the right one.
  LoaderState state() const;
  /// Ends the epoch that is under way and stands where `state` does, with its seed. Throws invalid_argument if the
  /// state is of another dataset, or of another way of sampling it.
  void restore(const LoaderState& state);

  /// Of an epoch, of all ranks.
  std::uint64_t samples() const noexcept;
  /// Of a whole epoch, the same for every rank.
  std::uint64_t batches() const noexcept;
  /// With nothing left to be chosen but `threads`, if that is 0.
  const LoaderOptions& options() const noexcept;
  const Sampler& sampler() const noexcept;

  /// Thread-safe, as long as this process has begun an epoch of its own, or is the one that made the loader.
  LoaderStats stats() const;
  /// Damaged records in the batches so far, with OnDamage::skip: each once, the first 1000 of them. Thread-safe
  /// as stats() is.
  std::vector<Damage> damage() const;

 private:
  friend class Epoch;
  friend struct LoaderInternals;
  struct State;
  explicit Loader(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace imgpack
