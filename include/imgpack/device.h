// Where batches are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace imgpack {

struct Device {
  enum class Type : std::uint8_t { cpu, cuda };
  Type type = Type::cpu;
  int index = 0;  ///< of CUDA devices, as CUDA numbers them in this process; 0 for the CPU

  bool is_cuda() const noexcept { return type == Type::cuda; }
  bool operator==(const Device&) const = default;
};

/// "cpu", "cuda:0".
std::string to_string(const Device& device);
/// The same; "cuda" is "cuda:0". Nothing for what names no device; whether the machine has it is not looked at.
std::optional<Device> device_from_name(std::string_view name) noexcept;

}  // namespace imgpack
