// The bits of a segment's stream, as its thread reads them: through shared memory. Device code only, for blocks of
// kEntropySegments threads.
#pragma once

#include <cstdint>

#include "reader/gpu/program/work.h"

namespace imgpack::gpu::entropy {

inline constexpr std::uint32_t kPieces = 2;
inline constexpr std::uint32_t kWordsOfPiece = 4;

/// The next pieces of a thread's stream, in shared memory. They are copied there while earlier ones are used, without
/// registers that would have to be waited for: thread t's are in `pieces[...][t]`.
struct Ring {
  uint4 pieces[kPieces][kEntropySegments];
};

/// Begins to copy 16 bytes, or to clear them where `bytes` is 0.
__device__ inline void begin_copy(uint4* to, const uint4* from, std::uint32_t bytes) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\ncp.async.commit_group;" ::"r"(address), "l"(from),
               "r"(bytes)
               : "memory");
}
/// Until no more than `kNewer` of the thread's copies are under way.
template <int kNewer>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewer) : "memory");
}

/// The bits of a stream: the next 32 of them at any time, as zeros behind its end.
class Bits {
 public:
  __device__ Bits(Ring& ring, const std::uint8_t* stream, std::uint32_t bits, std::uint32_t first_bit)
      : ring_(reinterpret_cast<const std::uint32_t*>(&ring.pieces[0][threadIdx.x])),
        stream_(reinterpret_cast<const uint4*>(stream)),
        piece_count_(ceil_div(bits, 128)),
        position_(first_bit) {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) begin(piece);
    wait_for_copies<kPieces - 1>();
    high_ = word(0);
    low_ = word(1);
  }
  __device__ std::uint32_t peek() const { return __funnelshift_l(low_, high_, position_); }
  /// REQUIRES: count < 32.
  __device__ void consume(std::uint32_t count) {
    position_ += count;
    if (position_ >= 32) {
      position_ -= 32;
      high_ = low_;
      if (next_ % kWordsOfPiece == 0) {
        begin(next_ / kWordsOfPiece + kPieces - 1);
        wait_for_copies<kPieces - 1>();
      }
      low_ = word(next_);
      ++next_;
    }
  }
  /// Goes behind the restart marker of that number, if nothing but the rest of a byte comes before it. T.81 E.2.4.
  __device__ bool take_restart_marker(std::uint32_t number) {
    consume((8 - position_ % 8) % 8);
    if (peek() >> 16 != 0xffd0 + number % 8) return false;
    consume(16);
    return true;
  }
  __device__ std::uint32_t consumed() const { return (next_ - 2) * 32 + position_; }

 private:
  __device__ void begin(std::uint32_t piece) {
    auto* const to = reinterpret_cast<uint4*>(const_cast<std::uint32_t*>(ring_)) + piece % kPieces * kEntropySegments;
    const bool inside = piece < piece_count_;
    begin_copy(to, stream_ + (inside ? piece : 0), inside ? 16 : 0);
  }
  __device__ std::uint32_t word(std::uint32_t number) const {
    const std::uint32_t piece = number / kWordsOfPiece % kPieces;
    return ring_[piece * kEntropySegments * kWordsOfPiece + number % kWordsOfPiece];
  }

  const std::uint32_t* ring_;
  const uint4* stream_;
  std::uint32_t piece_count_;
  std::uint32_t next_ = 2;  ///< word of the stream
  std::uint32_t high_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t position_;
};

}  // namespace imgpack::gpu::entropy
