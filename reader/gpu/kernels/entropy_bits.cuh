// The bits of a segment's stream, as its thread reads them: through shared memory. Device code only, for blocks of
// kEntropySegments threads.
#pragma once

#include <cstdint>

#include "reader/gpu/kernels/shared_address.cuh"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu::entropy {

inline constexpr std::uint32_t kPieces = 2;
inline constexpr std::uint32_t kWordsOfPiece = 4;

/// The next pieces of a thread's stream, in shared memory. They are copied there while earlier ones are used, without
/// registers that would have to be waited for: thread t's are in `pieces[...][t]`.
struct Ring {
  uint4 pieces[kPieces][kEntropySegments];
};

/// The bits of a stream: the next 32 of them at any time, as zeros behind its end. Three words of it are in registers,
/// so that the one that is read from shared memory is not waited for before it is needed.
class Bits {
 public:
  __device__ Bits(Ring& ring, const std::uint8_t* stream, std::uint32_t bits, std::uint32_t first_bit)
      : ring_(&ring.pieces[0][threadIdx.x]),
        stream_(reinterpret_cast<const uint4*>(stream)),
        piece_count_(ceil_div(bits, 128)),
        position_(first_bit) {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) begin(piece);
    wait_for_copies<kPieces - 1>();
    high_ = ring_.load_word(place_of(0));
    low_ = ring_.load_word(place_of(1));
    ahead_ = ring_.load_word(place_of(2));
  }
  __device__ std::uint32_t peek() const { return __funnelshift_l(low_, high_, position_); }
  /// REQUIRES: count < 32.
  __device__ void consume(std::uint32_t count) {
    position_ += count;
    const bool moves = position_ >= 32;
    position_ %= 32;
    if (moves && next_ % kWordsOfPiece == 0) {
      begin(next_ / kWordsOfPiece + kPieces - 1);
      wait_for_copies<kPieces - 1>();
    }
    high_ = moves ? low_ : high_;
    low_ = moves ? ahead_ : low_;
    ring_.load_word_if(moves, place_of(next_), ahead_);
    next_ += moves ? 1 : 0;
  }
  /// Goes behind the restart marker of that number, if nothing but the rest of a byte comes before it. T.81 E.2.4.
  __device__ bool take_restart_marker(std::uint32_t number) {
    consume((8 - position_ % 8) % 8);
    if (peek() >> 16 != 0xffd0 + number % 8) return false;
    consume(16);
    return true;
  }
  __device__ std::uint32_t consumed() const { return (next_ - 3) * 32 + position_; }

 private:
  static constexpr std::uint32_t kPieceBytes = kEntropySegments * 16;  // of all threads

  __device__ void begin(std::uint32_t piece) {
    const bool inside = piece < piece_count_;
    ring_.begin_copy(piece % kPieces * kPieceBytes, stream_ + (inside ? piece : 0), inside ? 16 : 0);
  }
  /// Of a word of the stream, in the ring.
  __device__ static std::uint32_t place_of(std::uint32_t word) {
    return word / kWordsOfPiece % kPieces * kPieceBytes + word % kWordsOfPiece * 4;
  }

  SharedAddress ring_;
  const uint4* stream_;
  std::uint32_t piece_count_;
  std::uint32_t next_ = 3;  ///< word of the stream
  std::uint32_t high_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t ahead_ = 0;
  std::uint32_t position_;
};

}  // namespace imgpack::gpu::entropy
