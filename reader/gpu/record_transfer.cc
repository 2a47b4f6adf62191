#include "reader/gpu/record_transfer.h"

#include <utility>

#include "reader/gpu/kernels/gather.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

/// Smaller pieces are brought by the kernel: a copy costs the host about a microsecond.
constexpr std::uint64_t kLeastCopy = 8192;

/// Whole blocks of 16 bytes: that is what is read anyway, and what kernels may read of what was brought.
GatherRange whole_units(std::span<const std::byte> source, std::byte* destination) {
  const std::size_t before = gather_shift(source.data());
  const std::size_t end = ceil_div(before + source.size(), kGatherUnit) * kGatherUnit;
  return {source.data() - before, destination - before, end};
}

}  // namespace

void RecordTransfer::clear() {
  copies_.clear();
  ranges_.clear();
  pieces_.clear();
}

void RecordTransfer::add(std::span<const std::byte> source, std::byte* destination, const RegisteredFiles* copied) {
  const GatherRange range = whole_units(source, destination);
  if (copied != nullptr && range.bytes >= kLeastCopy && !copied->crosses_windows({range.source, range.bytes})) {
    copies_.add(range.source, range.destination, range.bytes);
  } else {
    ranges_.push_back(range);
  }
}

void RecordTransfer::queue_copies(cudaStream_t stream) {
  copies_.queue(stream);
}

void RecordTransfer::write(ProgramBuffer& program) {
  append_pieces(ranges_, pieces_);
  ranges_place_ = program.append(std::span(std::as_const(ranges_)));
  pieces_place_ = program.append(std::span(std::as_const(pieces_)));
}

void RecordTransfer::queue_gather(const ProgramBuffer& program, int blocks, cudaStream_t stream) const {
  launch_gather(program.device<GatherRange>(ranges_place_), program.device<GatherPiece>(pieces_place_),
                static_cast<std::uint32_t>(pieces_.size()), stream, blocks);
}

}  // namespace imgpack::gpu
