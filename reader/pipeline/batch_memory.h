// The memory of batches: what Batch handles share, and the pool that it comes from and goes back to.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "mmap/unbuffered_file.h"
#include "reader/pipeline/batch_format.h"

namespace imgpack {

class BatchMemory {
 public:
  BatchFormat format;
  std::uint32_t size = 0;
  AlignedBuffer images;  ///< room for `size` images at least
  std::vector<std::int64_t> labels;
  std::vector<float> soft_labels;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint64_t> records;
  std::vector<std::uint32_t> datasets;
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint32_t skipped = 0;
  LoaderState after;

  std::byte* image(std::size_t index) const noexcept { return images.bytes().data() + index * format.image_bytes(); }
};

/// Hands out batch memory and takes it back when the last handle is gone, wherever that is. Thread-safe. The pool lives
/// as long as any of its memory does.
class BatchPool : public std::enable_shared_from_this<BatchPool> {
 public:
  /// Keeps the memory of up to `kept` batches for the next ones.
  static std::shared_ptr<BatchPool> create(const BatchFormat& format, std::size_t kept);

  /// For `size` samples, with room for `room` images. The content is unspecified. Throws std::bad_alloc.
  std::shared_ptr<BatchMemory> take(std::uint32_t size, std::uint32_t room);

 private:
  BatchPool(const BatchFormat& format, std::size_t kept);
  void give_back(std::unique_ptr<BatchMemory> memory) noexcept;

  const BatchFormat format_;
  const std::size_t kept_;
  const pid_t process_;  ///< in a child, the mutex may be held by a thread that is not there
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchMemory>> free_;
};

}  // namespace imgpack
