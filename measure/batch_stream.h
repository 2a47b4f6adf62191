// Batches, one after the other, whatever makes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "imgpack/dataset.h"

namespace imgpack::measure {

struct BatchStreamOptions {
  std::uint32_t batch_size = 64;
  unsigned threads = 1;        ///< that decode
  std::string device = "cpu";  ///< "cuda:N": batches are in its memory
  std::vector<Augmentation> transform = {};
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  std::uint64_t seed = 0;
  bool past_cache = false;   ///< reads past the page cache, where the file system can
  bool single_pass = false;  ///< ends after one epoch; otherwise epochs follow each other without end
};

/// Not thread-safe. What works for it ends with it.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// Waits for the next batch and returns how many images it has; nothing at the end. The batch before it may be used
  /// no longer. Throws damaged, and what else Epoch::next() throws.
  virtual std::optional<std::uint32_t> next() = 0;
  /// Bytes of images read so far, of batches that are being made too.
  virtual std::uint64_t bytes_read() const = 0;
  /// How records come to a CUDA device; empty on the CPU.
  virtual std::string transport() const { return {}; }

 protected:
  BatchStream() = default;
};

/// imgpack's own loader.
std::unique_ptr<BatchStream> stream_of(const Dataset& dataset, const std::string& split,
                                       const BatchStreamOptions& options);

}  // namespace imgpack::measure
