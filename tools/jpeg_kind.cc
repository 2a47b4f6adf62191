#include "tools/jpeg_kind.h"

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

}  // namespace

std::string jpeg_kind(std::span<const std::byte> file) {
  const jpeg::ParsedJpeg parsed = jpeg::parse(file);
  const bool readable = parsed.indexability == jpeg::Indexability::indexable;
  return readable ? sampling_name(parsed.frame) : std::string(to_string(parsed.indexability));
}

std::string jpeg_kind_of(const StoreReader& store, std::uint64_t record) {
  try {
    return jpeg_kind(store.bytes(record).payload);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    return std::string(to_string(jpeg::Indexability::damaged));
  }
}

}  // namespace imgpack::tools
