// The entries of one kernel's blocks, as the host puts them together. No CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

/// An image has about a hundred entries, and so adding them is no more than writing them. Not thread-safe.
class WorkList {
 public:
  /// Keeps the memory.
  void clear() noexcept { size_ = 0; }
  /// Parts 0 to `parts` - 1 of a task.
  void add(std::uint32_t task, std::uint32_t parts) {
    if (parts > capacity_ - size_) grow(parts);
    Work* const out = entries_.get() + size_;
    for (std::uint32_t part = 0; part < parts; ++part) out[part] = {task, part};
    size_ += parts;
  }
  std::span<const Work> entries() const noexcept { return {entries_.get(), size_}; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(size_); }
  bool empty() const noexcept { return size_ == 0; }

 private:
  void grow(std::size_t more);

  std::unique_ptr<Work[]> entries_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace imgpack::gpu
