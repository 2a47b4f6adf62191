#include "reader/gpu/value_lut.h"

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

ValueLut ValueLut::upload(const ValueTables& tables, DType dtype) {
  ValueLut lut;
  lut.dtype_ = dtype;
  if (dtype == DType::u8) return lut;
  const void* const values = dtype == DType::f32 ? static_cast<const void*>(&tables.f32) : &tables.half;
  lut.values_ = DeviceBuffer(dtype == DType::f32 ? sizeof tables.f32 : sizeof tables.half);
  check(cudaMemcpy(lut.values_.data(), values, lut.values_.size(), cudaMemcpyHostToDevice), "copying a table");
  // From pageable memory it may still be on its way, and other streams do not wait for it.
  check(cudaStreamSynchronize(nullptr), "copying tables of values");
  return lut;
}

}  // namespace imgpack::gpu
