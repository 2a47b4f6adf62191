#include "codec/image.h"

#include <cstring>

namespace imgpack {

void CopyRows::take(std::uint32_t y, ConstRgbView rows) {
  for (std::uint32_t i = 0; i < rows.height; ++i) {
    std::memcpy(out_.row(y + i), rows.row(i), rows.width * RgbImage::kChannels);
  }
}

}  // namespace imgpack
