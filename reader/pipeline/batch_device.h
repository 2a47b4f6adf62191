// A device that batches are made and kept on, as the pipeline sees it: no CUDA here. reader/gpu implements it.
//
//   DeviceJob job = device.begin(memory, samples)
//   add() for each sample, on any thread     the device takes it, or says where the host is to put the finished image
//   submit()                                 everything is queued; may wait for room on the device
//   wait()                                   until the device has done it; then damaged() tells what went wrong
//   copy_image(), clear_image(), mix(), set_labels(), wait()     if there is something to mend or to mix
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "codec/decode.h"
#include "codec/image_result.h"
#include "imgpack/record.h"
#include "imgpack/store.h"
#include "reader/augment/sample_plan.h"

namespace imgpack {

struct Mix;

/// The memory of one batch on a device, without gaps in the order of the batch. The pointers are the device's.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* images = nullptr;
  std::int64_t* labels = nullptr;
  float* soft_labels = nullptr;  ///< nullptr without soft labels
  std::uint8_t* mask = nullptr;

  /// Notes that the consumer uses this memory on `stream` (a cudaStream_t of the device; nullptr is the default
  /// stream), and makes the stream wait for the batch. Thread-safe. Throws io.
  virtual void use_on(void* stream) = 0;
  /// The consumer has let go: what it has queued by now on the streams of use_on() must end before the memory is
  /// written again. Never waits.
  virtual void release() noexcept = 0;

 protected:
  DeviceMemory() = default;
};

/// What labels a batch has, in host memory, one entry a sample; soft labels: samples x classes.
struct BatchLabels {
  std::span<const std::int64_t> labels;
  std::span<const std::uint8_t> mask;
  std::span<const float> soft_labels;
};

/// The work for one batch. Destroying it at any time is allowed and waits for what the device is doing for it.
class DeviceJob {
 public:
  virtual ~DeviceJob() = default;
  DeviceJob(const DeviceJob&) = delete;
  DeviceJob& operator=(const DeviceJob&) = delete;

  struct Placement {
    ImageResult result;               ///< not ok: the record is damaged, and nothing else is to be done for it
    std::byte* host_image = nullptr;  ///< where the host is to write the finished image; nullptr: the device makes it
  };
  /// Sample number `index`, once each. Bytes in the dataset's mapping have to stay until the job is done, others
  /// only for the call. `file`: where the payload is on disk, if the device may read it there
  /// instead; else nullptr. Thread-safe. Throws out_of_memory, io, std::bad_alloc, and damaged where it
  /// reads the file; the sample then counts as not added.
  virtual Placement add(std::size_t index, const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan,
                        const PayloadPlace* file = nullptr) = 0;
  /// After the last add(). Samples that were not added keep unspecified pixels. Throws io, out_of_memory.
  virtual void submit(const BatchLabels& labels) = 0;
  /// Until all that was queued is done. Throws io for an error of the device.
  virtual void wait() = 0;
  /// After wait(): whether the device found sample number `index` damaged, and why.
  virtual std::optional<std::string> damaged(std::size_t index) const = 0;
  /// Seconds that the device took from submit() to the end, after wait().
  virtual double device_seconds() const = 0;

  // These queue work after submit(); wait() has to be called again. Throw io.
  virtual void copy_image(std::size_t to, std::size_t from) = 0;
  virtual void clear_image(std::size_t index) = 0;
  /// Of the first `count` images, as BatchMixer::mix_images. `previous`: the index of the predecessor of the first one;
  /// nothing: the last of them.
  virtual void mix(const Mix& mix, std::uint32_t count, std::optional<std::size_t> previous) = 0;
  virtual void set_labels(const BatchLabels& labels) = 0;

 protected:
  DeviceJob() = default;
};

/// Thread-safe. Not to be used in a child after fork(): a CUDA context does not live there.
class BatchDevice {
 public:
  virtual ~BatchDevice() = default;
  BatchDevice(const BatchDevice&) = delete;
  BatchDevice& operator=(const BatchDevice&) = delete;

  /// For `room` images and labels of `size` samples. Throws out_of_memory, io.
  virtual std::unique_ptr<DeviceMemory> allocate(std::uint32_t size, std::uint32_t room) = 0;
  /// `samples` <= room. Throws out_of_memory, io. REQUIRES: `memory` is of this device, and outlives the job as the
  /// device does.
  virtual std::unique_ptr<DeviceJob> begin(DeviceMemory& memory, std::uint32_t samples) = 0;

  /// Of the device that keeps the batches.
  virtual int number() const noexcept = 0;
  /// "zero_copy: all 3.9 GB of the dataset are registered with cuda:0 (NVIDIA H200)".
  virtual std::string transport_reason() const = 0;

 protected:
  BatchDevice() = default;
};

}  // namespace imgpack
