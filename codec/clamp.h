// From wider integers to bytes.
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace imgpack {

IMGPACK_HD constexpr std::uint8_t clamp_to_byte(std::int32_t value) noexcept {
  return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace imgpack
