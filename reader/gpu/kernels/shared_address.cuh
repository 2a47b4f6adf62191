// An address in shared memory that stays in a register: the compiler would rather compute it again for each access,
// from the thread's number, which takes long to read. And accesses under a condition without a branch, and asynchronous
// copies. Device code only; tests/cuda_on_host has another one.
#pragma once

#include <cstdint>

namespace imgpack::gpu {

/// Until no more than `kNewer` of the thread's copies are under way.
template <int kNewer>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewer) : "memory");
}

class SharedAddress {
 public:
  __device__ explicit SharedAddress(void* address) {
    const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(address));
    asm volatile("mov.u32 %0, %1;" : "=r"(address_) : "r"(shared));
  }
  /// `offset`, here and below: bytes from the address on.
  __device__ void store_if(bool condition, std::uint32_t offset, std::int16_t value) const {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p st.shared.s16 [%0], %1;\n}" ::"r"(address_ + offset),
                 "h"(value), "r"(static_cast<std::uint32_t>(condition))
                 : "memory");
  }
  __device__ void store(std::uint32_t offset, uint4 value) const {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address_ + offset), "r"(value.x), "r"(value.y),
                 "r"(value.z), "r"(value.w)
                 : "memory");
  }
  __device__ uint4 load(std::uint32_t offset) const {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address_ + offset)
                 : "memory");
    return value;
  }
  __device__ std::uint32_t load_word(std::uint32_t offset) const {
    std::uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address_ + offset) : "memory");
    return value;
  }
  /// Leaves `value` as it is where the condition is false.
  __device__ void load_word_if(bool condition, std::uint32_t offset, std::uint32_t& value) const {
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.shared.u32 %0, [%1];\n}"
                 : "+r"(value)
                 : "r"(address_ + offset), "r"(static_cast<std::uint32_t>(condition))
                 : "memory");
  }
  __device__ std::uint32_t load_half(std::uint32_t offset) const {
    std::uint16_t value;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(address_ + offset) : "memory");
    return value;
  }
  /// Begins to copy 16 bytes from global memory, or to clear them where `bytes` is 0.
  __device__ void begin_copy(std::uint32_t offset, const uint4* from, std::uint32_t bytes) const {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\ncp.async.commit_group;" ::"r"(address_ + offset),
                 "l"(from), "r"(bytes)
                 : "memory");
  }

 private:
  std::uint32_t address_;
};

}  // namespace imgpack::gpu
