#include "tools/overview.h"

#include <algorithm>

#include "tools/jpeg_kind.h"

namespace imgpack::tools {

void Extent::add(std::uint64_t value) {
  least = std::min(least, value);
  most = std::max(most, value);
}

void SideHistogram::add(std::uint32_t side) {
  const auto above = std::upper_bound(kLimits.begin(), kLimits.end(), std::max(side, kLimits.front()));
  ++counts[static_cast<std::size_t>(above - kLimits.begin()) - 1];
}

Overview look_over(const StoreReader& store, std::uint64_t most_jpegs) {
  Overview overview;
  overview.class_records.resize(store.info().classes.size());
  const std::uint64_t step = std::max<std::uint64_t>(1, store.size() / std::max<std::uint64_t>(1, most_jpegs));
  for (std::uint64_t record = 0; record < store.size(); ++record) {
    const RecordMeta meta = store.meta(record);
    ++overview.codecs[meta.codec];
    overview.width.add(meta.width);
    overview.height.add(meta.height);
    overview.bytes.add(meta.payload_size);
    overview.shorter_side.add(std::min(meta.width, meta.height));
    if (meta.label == kNoLabel) ++overview.unlabelled;
    const auto label = static_cast<std::uint64_t>(meta.label);
    if (label < overview.class_records.size()) ++overview.class_records[label];
    if (meta.codec == Codec::jpeg && record % step == 0 && overview.jpegs_looked_at < most_jpegs) {
      ++overview.jpeg_kinds[jpeg_kind_of(store, record)];
      ++overview.jpegs_looked_at;
    }
  }
  overview.paths = count_decode_paths(store);
  return overview;
}

}  // namespace imgpack::tools
