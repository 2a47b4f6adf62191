// Names of the reader's enumerations.
#include <charconv>

#include <fmt/format.h>

#include "imgpack/batch.h"
#include "imgpack/device.h"
#include "imgpack/loader.h"
#include "imgpack/sampler.h"
#include "mmap/enum_names.h"

namespace imgpack {

namespace {

constexpr EnumNames<DType, 4> kDTypes = {
    {{DType::u8, "uint8"}, {DType::f32, "float32"}, {DType::f16, "float16"}, {DType::bf16, "bfloat16"}}};
constexpr EnumNames<Layout, 2> kLayouts = {{{Layout::nchw, "nchw"}, {Layout::nhwc, "nhwc"}}};
constexpr EnumNames<Shuffle, 3> kShuffles = {
    {{Shuffle::full, "full"}, {Shuffle::block, "block"}, {Shuffle::none, "none"}}};
constexpr EnumNames<LastBatch, 3> kLastBatches = {
    {{LastBatch::partial, "partial"}, {LastBatch::drop, "drop"}, {LastBatch::pad, "pad"}}};
constexpr EnumNames<ReadMode, 4> kReadModes = {{{ReadMode::automatic, "auto"},
                                                {ReadMode::mapped, "mapped"},
                                                {ReadMode::ahead, "ahead"},
                                                {ReadMode::unbuffered, "unbuffered"}}};
constexpr EnumNames<Transport, 4> kTransports = {{{Transport::automatic, "auto"},
                                                  {Transport::zero_copy, "zero_copy"},
                                                  {Transport::pinned, "pinned"},
                                                  {Transport::gds, "gds"}}};
constexpr std::string_view kCuda = "cuda";
constexpr std::size_t kMostDigits = 4;

}  // namespace

std::string_view to_string(DType dtype) noexcept {
  return name_of(kDTypes, dtype);
}
std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  return value_of(kDTypes, name);
}
std::string_view to_string(Layout layout) noexcept {
  return name_of(kLayouts, layout);
}
std::optional<Layout> layout_from_name(std::string_view name) noexcept {
  return value_of(kLayouts, name);
}
std::string_view to_string(Shuffle shuffle) noexcept {
  return name_of(kShuffles, shuffle);
}
std::optional<Shuffle> shuffle_from_name(std::string_view name) noexcept {
  return value_of(kShuffles, name);
}
std::string_view to_string(LastBatch last) noexcept {
  return name_of(kLastBatches, last);
}
std::optional<LastBatch> last_batch_from_name(std::string_view name) noexcept {
  return value_of(kLastBatches, name);
}
std::string_view to_string(ReadMode mode) noexcept {
  return name_of(kReadModes, mode);
}
std::optional<ReadMode> read_mode_from_name(std::string_view name) noexcept {
  return value_of(kReadModes, name);
}
std::string_view to_string(Transport transport) noexcept {
  return name_of(kTransports, transport);
}
std::optional<Transport> transport_from_name(std::string_view name) noexcept {
  return value_of(kTransports, name);
}
std::string to_string(const Device& device) {
  return device.is_cuda() ? fmt::format("cuda:{}", device.index) : "cpu";
}
std::optional<Device> device_from_name(std::string_view name) noexcept {
  if (name == "cpu") return Device{};
  if (!name.starts_with(kCuda)) return std::nullopt;
  name.remove_prefix(kCuda.size());
  if (name.empty()) return Device{.type = Device::Type::cuda};
  if (name.front() != ':' || name.size() < 2 || name.size() > 1 + kMostDigits || name[1] == '-') return std::nullopt;
  Device device{.type = Device::Type::cuda};
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), device.index);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return device;
}

}  // namespace imgpack
