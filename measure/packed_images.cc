#include "measure/packed_images.h"

#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack::measure {

PackedImages::PackedImages(const std::string& name, const std::string& split)
    : dataset_(Dataset::open(name)), ranges_(dataset_.select(split)) {
  for (const RecordRange& range : ranges_) size_ += range.size();
}

std::uint64_t PackedImages::record(std::uint64_t index) const {
  for (const RecordRange& range : ranges_) {
    if (index < range.size()) return range.begin + index;
    index -= range.size();
  }
  throw Error(ErrorCode::invalid_argument, "there is no such image", in_file(dataset_.path()));
}

}  // namespace imgpack::measure
