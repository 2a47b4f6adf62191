#include "tools/overview.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/jpeg/parser.h"
#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

/// In J:a:b notation where there is one.
std::string sampling_name(const jpeg::Frame& frame) {
  if (frame.color == jpeg::ColorModel::gray) return "gray";
  const auto& [luma, cb, cr] = frame.components;
  const bool usual = cb.h == cr.h && cb.v == cr.v && cb.h == 1 && cb.v == 1;
  std::string name;
  if (usual && luma.h <= 4 && luma.v <= 2 && luma.h != 3) {
    const int a = 4 / luma.h;
    name = fmt::format("4:{}:{}", a, luma.v == 1 ? a : 0);
    if (luma.h == 1 && luma.v == 2) name = "4:4:0";
  } else if (luma.h == cb.h && luma.v == cb.v && luma.h == cr.h && luma.v == cr.v) {
    name = "4:4:4";
  } else {
    name = fmt::format("{}x{},{}x{},{}x{}", luma.h, luma.v, cb.h, cb.v, cr.h, cr.v);
  }
  return frame.color == jpeg::ColorModel::rgb ? "RGB " + name : name;
}

std::string jpeg_kind(const StoreReader& store, std::uint64_t record) {
  try {
    const jpeg::ParsedJpeg parsed = jpeg::parse(store.bytes(record).payload);
    const bool readable = parsed.indexability == jpeg::Indexability::indexable;
    return readable ? sampling_name(parsed.frame) : std::string(to_string(parsed.indexability));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    return std::string(to_string(jpeg::Indexability::damaged));
  }
}

}  // namespace

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
      ++overview.jpeg_kinds[jpeg_kind(store, record)];
      ++overview.jpegs_looked_at;
    }
  }
  overview.paths = count_decode_paths(store);
  return overview;
}

}  // namespace imgpack::tools
