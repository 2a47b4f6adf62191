// The memory of batches: what Batch handles share, and the pool that it comes from and goes back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "mmap/unbuffered_file.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/batch_format.h"
#include "reader/pipeline/in_own_process.h"

namespace imgpack {

class BatchMemory {
 public:
  BatchFormat format;
  std::uint32_t size = 0;
  AlignedBuffer images;                ///< room for `size` images at least; empty if they are on a device
  OwnProcessPtr<DeviceMemory> device;  ///< nullptr: in host memory. A child of the process has to leave it alone
  Device place;                        ///< of the images
  std::vector<std::int64_t> labels;
  std::vector<float> soft_labels;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint64_t> records;
  std::vector<std::uint32_t> datasets;
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint32_t skipped = 0;
  LoaderState after;

  std::byte* first_image() const noexcept { return device ? device->images : images.bytes().data(); }
  std::byte* image(std::size_t index) const noexcept { return first_image() + index * format.image_bytes(); }
};

/// Hands out batch memory and takes it back when the last handle is gone, wherever that is. Thread-safe. The pool lives
/// as long as any of its memory does, and keeps the device that it is of.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  struct Settings {
    BatchFormat format;
    std::size_t kept = 0;    ///< batches whose memory is kept for the next ones
    std::uint32_t size = 0;  ///< most samples of a batch
    std::uint32_t room = 0;  ///< most images, those that are made but not delivered included
  };
  static std::shared_ptr<BatchPool> create(const Settings& settings, std::shared_ptr<BatchDevice> device = nullptr);

  /// For `size` samples, with room for `room` images. The content is unspecified. Throws std::bad_alloc, and what the
  /// device throws. REQUIRES: neither is more than the settings say.
  std::shared_ptr<BatchMemory> take(std::uint32_t size, std::uint32_t room);

  /// nullptr: batches are in host memory.
  BatchDevice* device() const noexcept { return device_.get(); }

 private:
  BatchPool(const Settings& settings, std::shared_ptr<BatchDevice> device);
  void make_room(BatchMemory& memory, std::uint32_t room) const;
  void give_back(std::unique_ptr<BatchMemory> memory) noexcept;

  const Settings settings_;
  const std::shared_ptr<BatchDevice> device_;
  const InOwnProcess own_;  ///< in a child, the mutex may be held by a thread that is not there
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchMemory>> free_;
};

}  // namespace imgpack
