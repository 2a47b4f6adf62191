// Batches of loose image files by a plain pool of threads: what packed datasets are compared with.
//
// Each thread opens, reads and closes a file, decodes and transforms it with the code that imgpack's loader uses, and
// writes it to its place in the batch. What makes the difference to a packed dataset is what differs: files instead of
// records, and no segment index, so that more of a JPEG has to be decoded for a crop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "measure/batch_stream.h"
#include "measure/loose_files.h"

namespace imgpack::measure {

/// On the CPU only. A few batches are made ahead, in the order of their delivery; each epoch in a random order that
/// depends on seed and epoch.
class LooseLoader final : public BatchStream {
 public:
  /// Throws invalid_argument for a transform that is refused, gives images no one size, or mixes them; unsupported for
  /// a device other than the CPU. Threads begin with the first next(), which throws io if they can't be started.
  LooseLoader(std::shared_ptr<const std::vector<LooseFile>> files, const BatchStreamOptions& options);
  ~LooseLoader() override;

  std::optional<std::uint32_t> next() override;
  std::uint64_t bytes_read() const override;

  /// Of the batch that next() gave: pixels as Batch::images(), labels, and which files they are.
  std::span<const std::byte> images() const noexcept;
  std::span<const std::int64_t> labels() const noexcept;
  std::span<const std::uint64_t> records() const noexcept;

 private:
  struct State;
  void start();
  void stop() noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace imgpack::measure
