// XXH3-64 (seed 0) of byte sequences: the checksum of records, sections and metadata in every format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace imgpack {

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

/// The same over pieces.
class Checksummer {
 public:
  Checksummer();
  ~Checksummer();
  Checksummer(Checksummer&&) noexcept;
  Checksummer& operator=(Checksummer&&) noexcept;
  void update(std::span<const std::byte> bytes) noexcept;
  /// Of all so far; update() may follow.
  std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack
