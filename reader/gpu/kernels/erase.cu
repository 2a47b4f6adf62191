// All rectangles at the same time: where several of an image overlap, only the last one writes.
#include "reader/gpu/kernels/erase.h"

#include <bit>

#include "reader/augment/half.h"
#include "reader/augment/normal_noise.h"
#include "reader/gpu/kernels/start.cuh"
#include "reader/gpu/kernels/stored_value.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kSlices = 8;  // blocks for one rectangle

__device__ inline bool holds(const Rect& rect, std::uint32_t x, std::uint32_t y) {
  return x >= rect.x && x - rect.x < rect.width && y >= rect.y && y - rect.y < rect.height;
}

__device__ inline bool is_covered(const EraseTask* task, std::uint32_t x, std::uint32_t y) {
  for (std::uint32_t i = 1; i <= task->later; ++i) {
    if (holds(task[i].rect, x, y)) return true;
  }
  return false;
}

/// The next value of a rectangle: from left to right, from top to bottom, channel by channel.
struct Place {
  std::uint32_t x;
  std::uint32_t y;
  std::uint32_t channel;

  __device__ Place(const Rect& rect, std::uint64_t number)
      : x(static_cast<std::uint32_t>(number % rect.width)), y(static_cast<std::uint32_t>(number / rect.width)) {
    channel = y / rect.height;
    y %= rect.height;
  }
  __device__ void advance(const Rect& rect) {
    if (++x < rect.width) return;
    x = 0;
    if (++y < rect.height) return;
    y = 0;
    ++channel;
  }
};

template <DType kType>
__global__ void __launch_bounds__(kThreads) erase_kernel(const EraseTask* tasks, Layout layout, Size size) {
  using Value = StoredValue<kType>;
  using Type = typename Value::Type;
  const EraseTask& task = tasks[blockIdx.x];
  const Rect rect = task.rect;
  auto* const image = reinterpret_cast<Type*>(task.image);
  const std::uint64_t plane = std::uint64_t{size.width} * size.height;
  const std::uint64_t values = std::uint64_t{3} * rect.width * rect.height;
  // A thread makes four values at a time, those of one block of noise.
  const std::uint64_t blocks = ceil_div(values, 4);
  for (std::uint64_t block = blockIdx.y * kThreads + threadIdx.x; block < blocks; block += kSlices * kThreads) {
    NormalBlock noise = {};
    if (task.noise) noise = normal_block(task.key, task.record, task.operation, static_cast<std::uint32_t>(block));
    Place place(rect, block * 4);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if (block * 4 + i == values) return;
      const std::uint32_t x = rect.x + place.x;
      const std::uint32_t y = rect.y + place.y;
      if (!is_covered(&task, x, y)) {
        const std::uint64_t pixel = std::uint64_t{y} * size.width + x;
        Type* const at = image + (layout == Layout::nchw ? place.channel * plane + pixel : pixel * 3 + place.channel);
        const std::uint32_t bits = task.bits[place.channel];
        if constexpr (kType == DType::f32) {
          *at = task.noise ? noise.values[i] : std::bit_cast<float>(bits);
        } else {
          *at = task.noise ? Value::store(noise.values[i]) : static_cast<Type>(bits);
        }
      }
      place.advance(rect);
    }
  }
}

std::uint32_t bits_of(float value, DType dtype) noexcept {
  switch (dtype) {
    case DType::u8:
      return static_cast<std::uint8_t>(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(value);
    case DType::f16:
      return to_float16(value);
    case DType::bf16:
      return to_bfloat16(value);
  }
  return 0;
}

template <DType kType>
void launch(const EraseTask* tasks, std::uint32_t count, Layout layout, Size size, cudaStream_t stream) {
  start("erasing rectangles", erase_kernel<kType>, dim3(count, kSlices), kThreads, stream, tasks, layout, size);
}

}  // namespace

EraseTask make_erase_task(const Erasing& erasing, DType dtype, std::byte* image, std::uint32_t later) noexcept {
  EraseTask task = {};
  task.image = image;
  task.rect = erasing.rect;
  for (unsigned c = 0; c < 3; ++c) task.bits[c] = bits_of(erasing.value[c], dtype);
  task.later = later;
  task.noise = erasing.noise;
  task.operation = erasing.operation;
  task.key = erasing.key;
  task.record = erasing.record;
  return task;
}

void erase_rects(const EraseTask* tasks, std::uint32_t count, DType dtype, Layout layout, Size size,
                 cudaStream_t stream) {
  if (count == 0) return;
  switch (dtype) {
    case DType::u8:
      launch<DType::u8>(tasks, count, layout, size, stream);
      break;
    case DType::f32:
      launch<DType::f32>(tasks, count, layout, size, stream);
      break;
    case DType::f16:
      launch<DType::f16>(tasks, count, layout, size, stream);
      break;
    case DType::bf16:
      launch<DType::bf16>(tasks, count, layout, size, stream);
      break;
  }
}

}  // namespace imgpack::gpu
