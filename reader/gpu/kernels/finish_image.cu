// One block an image. An operation that needs the whole image, contrast with its mean, ends a pass over the pixels; all
// others between are done in one pass, in registers. A thread takes the same pixels in each pass, so that nothing but
// the sums for the means goes from thread to thread.
#include "reader/gpu/kernels/finish_image.h"

#include "reader/augment/hue_math.h"
#include "reader/augment/plain_color.h"
#include "reader/gpu/kernels/start.cuh"
#include "reader/gpu/kernels/stored_value.h"

namespace imgpack::gpu {

namespace {

using plain::Rgb;

constexpr unsigned kThreads = 512;
constexpr unsigned kWarps = kThreads / 32;
constexpr unsigned kGroup = 4;  // pixels that a thread takes at a time: three words

/// Pixels in registers, of which the last group of an image may have fewer.
struct Group {
  Rgb pixels[kGroup];
};

__device__ inline int byte_of(const std::uint32_t (&words)[3], unsigned i) {
  return static_cast<int>(words[i / 4] >> (i % 4 * 8) & 0xFF);
}

__device__ inline Group load_group(const std::uint8_t* at, unsigned count) {
  Group group = {};
  if (count == kGroup) {
    const auto* const source = reinterpret_cast<const std::uint32_t*>(at);
    const std::uint32_t words[3] = {source[0], source[1], source[2]};
#pragma unroll
    for (unsigned i = 0; i < kGroup; ++i) {
      group.pixels[i] = {byte_of(words, 3 * i), byte_of(words, 3 * i + 1), byte_of(words, 3 * i + 2)};
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < kGroup; ++i) {
      if (i < count) group.pixels[i] = {at[3 * i], at[3 * i + 1], at[3 * i + 2]};
    }
  }
  return group;
}

/// The values of a group as they lie in packed pixels.
__device__ inline int value_of(const Group& group, unsigned i) {
  const Rgb& pixel = group.pixels[i / 3];
  return i % 3 == 0 ? pixel.r : i % 3 == 1 ? pixel.g : pixel.b;
}

__device__ inline void store_group(const Group& group, unsigned count, std::uint8_t* at) {
  if (count == kGroup) {
    auto* const target = reinterpret_cast<std::uint32_t*>(at);
#pragma unroll
    for (unsigned w = 0; w < 3; ++w) {
      std::uint32_t word = 0;
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(value_of(group, 4 * w + i)) << (i * 8);
      target[w] = word;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < 3 * kGroup; ++i) {
      if (i < 3 * count) at[i] = static_cast<std::uint8_t>(value_of(group, i));
    }
  }
}

__device__ inline int luma_of(const Rgb& pixel) {
  return plain::luma(pixel.r, pixel.g, pixel.b);
}

__device__ inline Rgb blended(int from, const Rgb& to, float factor) {
  return {plain::blend(from, to.r, factor), plain::blend(from, to.g, factor), plain::blend(from, to.b, factor)};
}

/// `change` makes a pixel of a pixel.
template <class Change>
__device__ void for_each_pixel(Group& group, Change change) {
#pragma unroll
  for (unsigned i = 0; i < kGroup; ++i) group.pixels[i] = change(group.pixels[i]);
}

/// `mean` is for contrast.
__device__ inline void apply(const ColorOp& op, int mean, Group& group) {
  using Kind = ColorOp::Kind;
  if (changes_nothing(op)) return;
  const float factor = op.factor;
  switch (op.kind) {
    case Kind::brightness:
      return for_each_pixel(group, [=](const Rgb& pixel) { return blended(0, pixel, factor); });
    case Kind::contrast:
      return for_each_pixel(group, [=](const Rgb& pixel) { return blended(mean, pixel, factor); });
    case Kind::saturation:
      return for_each_pixel(group, [=](const Rgb& pixel) { return blended(luma_of(pixel), pixel, factor); });
    case Kind::hue: {
      const std::uint8_t shift = plain::hue_shift(factor);
      return for_each_pixel(group, [=](const Rgb& pixel) { return plain::with_hue_turned(pixel, shift); });
    }
    case Kind::grayscale:
      return for_each_pixel(group, [](const Rgb& pixel) {
        const int gray = luma_of(pixel);
        return Rgb{gray, gray, gray};
      });
  }
}

/// What all threads of the block have summed up, in each of them.
__device__ inline std::uint64_t block_sum(std::uint64_t sum) {
  __shared__ std::uint64_t parts[kWarps];
  for (unsigned distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
  __syncthreads();  // the last sum has been read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  std::uint64_t total = 0;
  for (const std::uint64_t part : parts) total += part;
  return total;
}

/// The image of one block: `work` gets each group's first pixel and number of pixels.
template <class Work>
__device__ void for_each_group(std::uint64_t pixels, Work work) {
  for (std::uint64_t first = std::uint64_t{threadIdx.x} * kGroup; first < pixels; first += kThreads * kGroup) {
    const std::uint64_t left = pixels - first;
    work(first, left < kGroup ? static_cast<unsigned>(left) : kGroup);
  }
}

/// Where finished values go.
template <class Type>
struct Target {
  Type* out;
  std::uint64_t plane;  ///< pixels of the image
  bool planar;
  bool chunks;  ///< whether four values can be stored at once

  __device__ Target(const FinishTask& task, std::uint64_t pixels, Layout layout)
      : out(reinterpret_cast<Type*>(task.out)),
        plane(pixels),
        planar(layout == Layout::nchw),
        chunks(reinterpret_cast<std::uintptr_t>(task.out) % (4 * sizeof(Type)) == 0 && (!planar || pixels % 4 == 0)) {}

  /// `look_up` makes a value of a channel and its 8-bit value.
  template <class LookUp>
  __device__ void store(const Group& group, std::uint64_t first, unsigned count, LookUp look_up) const {
    if (chunks && count == kGroup) {
#pragma unroll
      for (unsigned part = 0; part < 3; ++part) {
        Chunk<Type, 4> chunk;
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned place = planar ? 3 * i + part : 4 * part + i;
          chunk.values[i] = look_up(place % 3, value_of(group, place));
        }
        Type* const at = planar ? out + part * plane + first : out + first * 3 + part * 4;
        *reinterpret_cast<Chunk<Type, 4>*>(at) = chunk;
      }
    } else {
#pragma unroll
      for (unsigned i = 0; i < 3 * kGroup; ++i) {
        const unsigned channel = i % 3;
        const std::uint64_t pixel = first + i / 3;
        const std::uint64_t place = planar ? channel * plane + pixel : pixel * 3 + channel;
        if (i < 3 * count) out[place] = look_up(channel, value_of(group, i));
      }
    }
  }
};

/// The tables of the dtype, in shared memory.
template <DType kType>
struct LookUp {
  using Type = typename StoredValue<kType>::Type;
  const Type (*tables)[256];

  __device__ Type operator()(unsigned channel, int value) const {
    if constexpr (kType == DType::u8) {
      return static_cast<Type>(value);
    } else {
      return tables[channel][value];
    }
  }
};

/// For all threads of the block, which have to call it together.
template <DType kType>
__device__ LookUp<kType> make_look_up(const ValueTables* tables) {
  using Type = typename StoredValue<kType>::Type;
  if constexpr (kType == DType::u8) {
    return {nullptr};
  } else {
    __shared__ Type copies[3][256];
    for (unsigned i = threadIdx.x; i < 3 * 256; i += kThreads) {
      if constexpr (kType == DType::f32) {
        copies[i / 256][i % 256] = tables->f32[i / 256][i % 256];
      } else {
        copies[i / 256][i % 256] = tables->half[i / 256][i % 256];
      }
    }
    __syncthreads();
    return {copies};
  }
}

template <DType kType>
__global__ void __launch_bounds__(kThreads, 2)
    finish_kernel(const FinishTask* tasks, const ColorOp* all_ops, BatchValues values) {
  const FinishTask task = tasks[blockIdx.x];
  const ColorOp* const ops = all_ops + task.first_op;
  const std::uint64_t pixels = std::uint64_t{task.width} * task.height;
  const LookUp<kType> look_up = make_look_up<kType>(values.tables);

  std::uint32_t done = 0;
  int mean = 0;  // for ops[done], where that needs one
  const auto apply_until = [&](std::uint32_t end, Group& group) {
    for (std::uint32_t i = done; i < end; ++i) apply(ops[i], mean, group);
  };
  for (std::uint32_t end = 0; end < task.op_count; ++end) {
    if (ops[end].kind != ColorOp::Kind::contrast || changes_nothing(ops[end])) continue;
    std::uint64_t sum = 0;
    for_each_group(pixels, [&](std::uint64_t first, unsigned count) {
      std::uint8_t* const at = task.canvas + first * 3;
      Group group = load_group(at, count);
      apply_until(end, group);
      if (end != done) store_group(group, count, at);
#pragma unroll
      for (unsigned i = 0; i < kGroup; ++i) sum += i < count ? luma_of(group.pixels[i]) : 0;
    });
    mean = plain::mean_luma(block_sum(sum), pixels);
    done = end;
  }
  if (task.out == nullptr) {
    if (done == task.op_count) return;
    for_each_group(pixels, [&](std::uint64_t first, unsigned count) {
      std::uint8_t* const at = task.canvas + first * 3;
      Group group = load_group(at, count);
      apply_until(task.op_count, group);
      store_group(group, count, at);
    });
  } else {
    const Target<typename StoredValue<kType>::Type> target(task, pixels, values.layout);
    for_each_group(pixels, [&](std::uint64_t first, unsigned count) {
      Group group = load_group(task.canvas + first * 3, count);
      apply_until(task.op_count, group);
      target.store(group, first, count, look_up);
    });
  }
}

template <DType kType>
void launch(const FinishTask* tasks, std::uint32_t count, const ColorOp* ops, const BatchValues& values,
            cudaStream_t stream) {
  start("finishing images", finish_kernel<kType>, count, kThreads, stream, tasks, ops, values);
}

}  // namespace

void finish_images(const FinishTask* tasks, std::uint32_t count, const ColorOp* ops, const BatchValues& values,
                   cudaStream_t stream) {
  if (count == 0) return;
  switch (values.dtype) {
    case DType::u8:
      launch<DType::u8>(tasks, count, ops, values, stream);
      break;
    case DType::f32:
      launch<DType::f32>(tasks, count, ops, values, stream);
      break;
    case DType::f16:
      launch<DType::f16>(tasks, count, ops, values, stream);
      break;
    case DType::bf16:
      launch<DType::bf16>(tasks, count, ops, values, stream);
      break;
  }
}

}  // namespace imgpack::gpu
