// A thread has the same few values of all images: it goes from the last image to the first, so that each predecessor is
// still as it was, and every value is read once and written once.
#include "reader/gpu/kernels/mix_images.h"

#include "reader/gpu/kernels/start.cuh"
#include "reader/gpu/kernels/stored_value.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kAhead = 8;  // images that are read before the first of them is written

struct Arguments {
  std::byte* images;
  const std::byte* first;  ///< predecessor of the first image
  std::uint64_t image_bytes;
  std::uint32_t count;
  Size size;
  bool planar;
  Rect pasted;
  float own_share;
  float other_share;
};

/// Which of kCount values from number `value` of an image on lie in the rectangle: a bit each.
template <unsigned kCount>
__device__ std::uint32_t pasted_values(const Arguments& arguments, std::uint64_t value) {
  const unsigned period = arguments.planar ? 1 : 3;  // values of a pixel that stand together
  const Rect& rect = arguments.pasted;
  const std::uint64_t pixel = value / period;
  const std::uint64_t row = pixel / arguments.size.width;
  unsigned channel = static_cast<unsigned>(value % period);
  auto x = static_cast<std::uint32_t>(pixel % arguments.size.width);
  auto y = static_cast<std::uint32_t>(row % arguments.size.height);
  std::uint32_t bits = 0;
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) {
    const bool holds = x >= rect.x && x - rect.x < rect.width && y >= rect.y && y - rect.y < rect.height;
    bits |= (holds ? 1U : 0U) << i;
    if (++channel < period) continue;
    channel = 0;
    if (++x < arguments.size.width) continue;
    x = 0;
    if (++y == arguments.size.height) y = 0;  // the next plane
  }
  return bits;
}

template <DType kType, unsigned kCount>
struct Blend {
  using Value = StoredValue<kType>;
  using Values = Chunk<typename Value::Type, kCount>;
  float own_share;
  float other_share;

  __device__ Blend(const Arguments& arguments, std::uint64_t)
      : own_share(arguments.own_share), other_share(arguments.other_share) {}
  __device__ bool changes_nothing() const { return false; }
  __device__ Values operator()(const Values& own, const Values& other) const {
    Values mixed;
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
      const float product = Value::load(own.values[i]) * own_share;  // rounded, as is the other one
      mixed.values[i] = Value::store(product + Value::load(other.values[i]) * other_share);
    }
    return mixed;
  }
};

template <DType kType, unsigned kCount>
struct Paste {
  using Values = Chunk<typename StoredValue<kType>::Type, kCount>;
  std::uint32_t pasted;

  __device__ Paste(const Arguments& arguments, std::uint64_t value) : pasted(pasted_values<kCount>(arguments, value)) {}
  __device__ bool changes_nothing() const { return pasted == 0; }
  __device__ Values operator()(const Values& own, const Values& other) const {
    Values mixed;
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) mixed.values[i] = (pasted >> i & 1) != 0 ? other.values[i] : own.values[i];
    return mixed;
  }
};

template <class Operation, class Values>
__global__ void __launch_bounds__(kThreads) mix_kernel(Arguments arguments) {
  const std::uint64_t chunk = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (chunk >= arguments.image_bytes / sizeof(Values)) return;
  const Operation mixed(arguments, chunk * (sizeof(Values) / sizeof(Values{}.values[0])));
  if (mixed.changes_nothing()) return;
  const std::uint64_t offset = chunk * sizeof(Values);
  const auto image = [&](std::uint32_t i) -> Values& {
    return *reinterpret_cast<Values*>(arguments.images + i * arguments.image_bytes + offset);
  };

  const Values first = *reinterpret_cast<const Values*>(arguments.first + offset);
  std::uint32_t i = arguments.count - 1;
  Values own = image(i);
  for (; i >= kAhead; i -= kAhead) {
    Values others[kAhead];
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k) others[k] = image(i - k - 1);
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k) {
      image(i - k) = mixed(own, others[k]);
      own = others[k];
    }
  }
  for (; i > 0; --i) {
    const Values other = image(i - 1);
    image(i) = mixed(own, other);
    own = other;
  }
  image(0) = mixed(own, first);
}

template <class Operation>
void launch(const Arguments& arguments, cudaStream_t stream) {
  using Values = typename Operation::Values;
  const std::uint64_t chunks = arguments.image_bytes / sizeof(Values);
  const auto blocks = static_cast<unsigned>(ceil_div(chunks, kThreads));
  start("mixing a batch", mix_kernel<Operation, Values>, blocks, kThreads, stream, arguments);
}

template <DType kType>
void launch_as(const Mix& mix, Arguments arguments, std::size_t predecessor, cudaStream_t stream) {
  using Type = typename StoredValue<kType>::Type;
  constexpr unsigned kBytes = 16;
  constexpr unsigned kMany = kBytes / sizeof(Type);
  arguments.image_bytes = std::uint64_t{arguments.size.width} * arguments.size.height * 3 * sizeof(Type);
  arguments.first = arguments.images + predecessor * arguments.image_bytes;
  const bool aligned = arguments.image_bytes % kBytes == 0 &&
                       reinterpret_cast<std::uintptr_t>(arguments.images) % kBytes == 0;
  if (mix.kind == Mix::Kind::blend) {
    return aligned ? launch<Blend<kType, kMany>>(arguments, stream) : launch<Blend<kType, 1>>(arguments, stream);
  }
  return aligned ? launch<Paste<kType, kMany>>(arguments, stream) : launch<Paste<kType, 1>>(arguments, stream);
}

}  // namespace

void mix_images(const Mix& mix, DType dtype, Layout layout, Size size, std::byte* images, std::uint32_t count,
                std::optional<std::size_t> previous, cudaStream_t stream) {
  if (mix.kind == Mix::Kind::none || count == 0) return;
  if (mix.kind == Mix::Kind::paste && (mix.pasted.width == 0 || mix.pasted.height == 0)) return;
  Arguments arguments = {};
  arguments.images = images;
  arguments.count = count;
  arguments.size = size;
  arguments.planar = layout == Layout::nchw;
  arguments.pasted = mix.pasted;
  arguments.own_share = static_cast<float>(mix.share);
  arguments.other_share = static_cast<float>(1.0 - mix.share);
  const std::size_t predecessor = previous.value_or(count - 1);
  switch (dtype) {
    case DType::u8:
      launch_as<DType::u8>(mix, arguments, predecessor, stream);
      break;
    case DType::f32:
      launch_as<DType::f32>(mix, arguments, predecessor, stream);
      break;
    case DType::f16:
      launch_as<DType::f16>(mix, arguments, predecessor, stream);
      break;
    case DType::bf16:
      launch_as<DType::bf16>(mix, arguments, predecessor, stream);
      break;
  }
}

}  // namespace imgpack::gpu
