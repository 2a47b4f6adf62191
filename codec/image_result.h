// How decoding an image ended.
#pragma once

#include <cstdint>
#include <string>

namespace imgpack {

enum class ImageStatus : std::uint8_t {
  ok,
  truncated,    ///< the data end before the image does
  damaged,      ///< the data can't be decoded
  too_large,    ///< more pixels than allowed
  unsupported,  ///< valid, perhaps, but not for this function or this build
};

struct ImageResult {
  ImageStatus status = ImageStatus::ok;
  std::string reason;  ///< for people; empty if ok
  bool ok() const noexcept { return status == ImageStatus::ok; }
};

}  // namespace imgpack
