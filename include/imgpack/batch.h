// A batch of images and labels, ready for training.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "imgpack/device.h"
#include "imgpack/loader_state.h"

namespace imgpack {

enum class DType : std::uint8_t { u8, f32, f16, bf16 };
/// "uint8", "float32", "float16", "bfloat16".
std::string_view to_string(DType dtype) noexcept;
std::optional<DType> dtype_from_name(std::string_view name) noexcept;
/// Bytes of one value.
constexpr std::size_t size_of(DType dtype) noexcept {
  return dtype == DType::u8 ? 1 : dtype == DType::f32 ? 4 : 2;
}

enum class Layout : std::uint8_t {
  nchw,  ///< planes: [N, 3, H, W] without gaps
  nhwc,  ///< pixels: [N, H, W, 3] without gaps, which PyTorch calls channels_last
};
/// "nchw", "nhwc".
std::string_view to_string(Layout layout) noexcept;
std::optional<Layout> layout_from_name(std::string_view name) noexcept;

class BatchMemory;

/// A handle to a batch, cheap to copy; all copies share one memory, which lives until the last of them, and everything
/// that was made to share it (tensors), is gone. The loader never touches a batch again that it has handed out.
///
/// The consumer may write into images and labels. Not thread-safe by itself. An empty handle, Batch(), has size() 0.
///
/// On a CUDA device a batch is finished when it is handed out: any stream may read it at once. What is queued on a
/// stream when the last handle goes may still be at work then; use_on() makes the loader wait for it before it writes
/// the memory again. In a child after fork() the labels and numbers of such a batch are there, its images are not.
class Batch {
 public:
  Batch() = default;
  explicit Batch(std::shared_ptr<BatchMemory> memory) noexcept : memory_(std::move(memory)) {}

  /// Samples, those of padding included.
  std::uint32_t size() const noexcept;
  std::uint32_t height() const noexcept;  ///< pixels
  std::uint32_t width() const noexcept;   ///< pixels
  static constexpr std::uint32_t channels() noexcept { return 3; }
  DType dtype() const noexcept;
  Layout layout() const noexcept;
  /// [N, 3, H, W] whatever the layout, and how many values lie between neighbours in each dimension.
  std::array<std::int64_t, 4> shape() const noexcept;
  std::array<std::int64_t, 4> strides() const noexcept;

  /// Where images() is.
  Device device() const noexcept;
  /// Notes that the consumer uses the batch on `stream`, a cudaStream_t of device() (nullptr: CUDA's default stream),
  /// and makes what is queued there from now on wait for the batch. To be called for each stream before the first use
  /// on it; again is no harm. Does nothing for batches in host memory. Thread-safe. Throws unsupported in a
  /// child after fork().
  void use_on(void* stream) const;

  /// Pixels in the order of the layout, values of dtype(). uint8: 0 to 255. Floating point: 0 to 1, or what Normalize
  /// makes of that. Aligned to 64 bytes. On a CUDA device this is the device's memory: the host must not read or write
  /// through it, only hand its address on.
  std::span<std::byte> images() const noexcept;
  /// Class indices, kNoLabel where the source has none. In host memory, as all that follows up to datasets().
  std::span<std::int64_t> labels() const noexcept;
  /// [N, soft_classes()] probabilities with MixUp or CutMix, else empty.
  std::span<float> soft_labels() const noexcept;
  std::uint32_t soft_classes() const noexcept;
  /// 1: a sample; 0: not to be counted: padding, or a copy of another sample in the place of a damaged record.
  std::span<const std::uint8_t> mask() const noexcept;
  /// Record number of each sample in its dataset, and which dataset, where several are mixed.
  std::span<const std::uint64_t> records() const noexcept;
  std::span<const std::uint32_t> datasets() const noexcept;

  /// Copies of labels(), soft_labels() and mask() on device(), with the caution that images() needs; on the CPU they
  /// are labels(), soft_labels() and mask() themselves.
  std::span<std::int64_t> device_labels() const noexcept;
  std::span<float> device_soft_labels() const noexcept;
  std::span<const std::uint8_t> device_mask() const noexcept;

  std::uint64_t epoch() const noexcept;
  /// Number of the global batch in the epoch (after a resume too).
  std::uint64_t step() const noexcept;
  /// Damaged records that copies of other samples stand for.
  std::uint32_t skipped() const noexcept;
  /// Where a run stands that has used this batch and all before it: what a checkpoint keeps.
  LoaderState state() const noexcept;

  /// What keeps the memory alive, for those who hand parts of it on.
  std::shared_ptr<const void> owner() const noexcept { return memory_; }
  explicit operator bool() const noexcept { return memory_ != nullptr; }

 private:
  std::shared_ptr<BatchMemory> memory_;
};

}  // namespace imgpack
