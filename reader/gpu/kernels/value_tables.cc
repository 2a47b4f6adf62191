#include "reader/gpu/kernels/value_tables.h"

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

DeviceValueTables::DeviceValueTables(const PixelFormat& format)
    : memory_(sizeof(ValueTables)), dtype_(format.dtype), layout_(format.layout) {
  const ValueTables tables = make_value_tables(format);
  check(cudaMemcpy(memory_.data(), &tables, sizeof(tables), cudaMemcpyHostToDevice), "copying tables of values");
  // From pageable memory it may still be on its way, and other streams do not wait for it.
  check(cudaStreamSynchronize(nullptr), "copying tables of values");
}

BatchValues DeviceValueTables::values() const noexcept {
  return {reinterpret_cast<const ValueTables*>(memory_.data()), dtype_, layout_};
}

}  // namespace imgpack::gpu
