// Device memory that records of one batch in flight are read into from their files.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "imgpack/store.h"
#include "reader/gpu/cuda_handles.h"
#include "reader/gpu/gds_files.h"

namespace imgpack::gpu {

/// read() is thread-safe; reset() and the destructor must not run beside it, nor while the device reads the bytes.
/// Memory stays until the destructor.
class GdsArena {
 public:
  /// REQUIRES: `files` outlives it.
  explicit GdsArena(GdsFiles& files) : files_(files) {}

  /// The bytes at `place`, in memory of the current device; valid until reset(). Throws out_of_memory, and what
  /// GdsFiles::read() throws.
  std::span<const std::byte> read(const PayloadPlace& place);
  /// Takes all memory back and keeps it for the next batch.
  void reset() noexcept;

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBlock = std::size_t{32} << 20;

  struct Block {
    DeviceBuffer memory;
    std::unique_ptr<GdsBuffer> registered;  ///< nullptr: cuFile refused, and copies through memory of its own
  };
  struct Piece {
    std::byte* block = nullptr;
    std::size_t offset = 0;
  };
  Piece take(std::size_t bytes, std::size_t shift);

  GdsFiles& files_;
  std::mutex mutex_;  ///< of what follows
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  ///< number of the block that pieces are taken from
  std::size_t used_ = 0;     ///< bytes of it
};

}  // namespace imgpack::gpu
