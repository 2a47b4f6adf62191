// How often JPEG files that we write get restart markers.
#pragma once

#include <cstdint>

namespace imgpack {

/// MCUs between restart markers: a divisor of the MCUs in a row, so that all rows are cut alike, of about 24 blocks; a
/// whole row where there is none. Shorter segments give more parallel work, but each costs about three bytes.
std::uint32_t choose_restart_interval(std::uint32_t mcus_per_row, std::uint32_t blocks_per_mcu);

}  // namespace imgpack
