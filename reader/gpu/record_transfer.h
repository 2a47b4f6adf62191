// Bytes of records that come from memory that the device can reach into its own, of one batch: large ones by the copy
// engines, in one call, and small ones, whose copies would cost the host more, by a kernel that reads over the bus.
//
//   transfer.add(bytes, place, files);    for each
//   transfer.queue_copies(stream);
//   transfer.write(program);               before the program is settled
//   transfer.queue_gather(program, ...);   when it is uploaded
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reader/gpu/batched_copies.h"
#include "reader/gpu/gather_pieces.h"
#include "reader/gpu/program_buffer.h"
#include "reader/gpu/registered_files.h"

namespace imgpack::gpu {

/// Not thread-safe. Keeps the memory of its lists from batch to batch.
class RecordTransfer {
 public:
  void clear();
  bool has_copies() const noexcept { return !copies_.empty(); }
  /// `source`: an address of the device; `destination`: congruent to it modulo kGatherUnit, with room up to multiples
  /// of that at both ends, which is filled as well. `copied`: what copy engines may copy from, besides pinned memory;
  /// nullptr: the kernel reads everything.
  void add(std::span<const std::byte> source, std::byte* destination, const RegisteredFiles* copied);
  /// Throws io.
  void queue_copies(cudaStream_t stream);
  void write(ProgramBuffer& program);
  /// `blocks`: as launch_gather() takes it. Throws io.
  void queue_gather(const ProgramBuffer& program, int blocks, cudaStream_t stream) const;

 private:
  BatchedCopies copies_;
  std::vector<GatherRange> ranges_;  ///< that the kernel copies
  std::vector<GatherPiece> pieces_;
  ProgramBuffer::Place ranges_place_, pieces_place_;
};

}  // namespace imgpack::gpu
