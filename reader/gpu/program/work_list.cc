#include "reader/gpu/program/work_list.h"

#include <algorithm>
#include <utility>

namespace imgpack::gpu {

void WorkList::grow(std::size_t more) {
  constexpr std::size_t kLeast = 1024;
  const std::size_t capacity = std::max({kLeast, 2 * capacity_, size_ + more});
  auto larger = std::make_unique_for_overwrite<Work[]>(capacity);
  std::copy_n(entries_.get(), size_, larger.get());
  entries_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace imgpack::gpu
