#include "tests/support/damage.h"

namespace imgpack::testing {

void for_each_flip(std::span<const std::byte> file, std::size_t step,
                   const std::function<void(std::span<const std::byte>, std::size_t)>& check) {
  std::vector<std::byte> bytes(file.begin(), file.end());
  for (std::size_t offset = 0; offset < bytes.size(); offset += step) {
    const std::byte original = bytes[offset];
    bytes[offset] = ~original;
    check(bytes, offset);
    bytes[offset] = original ^ std::byte(1u << (offset % 8));
    check(bytes, offset);
    bytes[offset] = original;
  }
}

void for_each_cut(std::span<const std::byte> file, std::size_t step,
                  const std::function<void(std::span<const std::byte>)>& check) {
  for (std::size_t size = 0; size < file.size(); size += step) check(file.first(size));
}

}  // namespace imgpack::testing
