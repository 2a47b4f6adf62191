#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/segment_index.h"
#include "codec/other/other_image.h"
#include "formats/parallel_blocks.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kBlockRecords = 16;

/// What one thread needs.
struct Tools {
  explicit Tools(std::uint64_t max_pixels) : decoder(&decode_other_image, max_pixels) {}

  ImageDecoder decoder;
  jpeg::IndexBuilder index_builder;
  ByteBuffer index;
  RgbImage whole;
  RgbImage part;
};

/// A rectangle that depends on `seed` alone; every size and place has its chance.
Rect some_rect(Size size, std::uint64_t seed) {
  const auto draw = [&seed](std::uint32_t below) {  // splitmix64
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) % below);
  };
  const std::uint32_t x = draw(size.width);
  const std::uint32_t y = draw(size.height);
  return {x, y, 1 + draw(size.width - x), 1 + draw(size.height - y)};
}

bool is_part_of(const ConstRgbView& part, const ConstRgbView& whole, const Rect& place) {
  for (std::uint32_t y = 0; y < part.height; ++y) {
    const std::uint8_t* row = whole.row(place.y + y) + std::size_t{place.x} * RgbImage::kChannels;
    if (!std::equal(row, row + std::size_t{part.width} * RgbImage::kChannels, part.row(y))) return false;
  }
  return true;
}

/// Empty if the index is the one that its file has.
std::string check_index(const RecordBytes& bytes, Tools& tools) {
  jpeg::SegmentIndex index;
  switch (jpeg::open_segment_index(bytes.segments, bytes.payload, index)) {
    case jpeg::IndexStatus::ok:
      break;
    case jpeg::IndexStatus::unsupported:
      return "its segment index is of an unknown version";
    default:
      return "its segment index contradicts itself or its payload";
  }
  const jpeg::IndexOptions same_length{.segment_mcus = index.segment_mcus};
  if (tools.index_builder.build(bytes.payload, same_length, tools.index) != jpeg::Indexability::indexable) {
    return "it has a segment index, but its payload does not decode without complaint";
  }
  return std::ranges::equal(bytes.segments, tools.index.bytes()) ? std::string()
                                                                 : "its segment index is not that of its payload";
}

/// Empty if the record decodes, and its index agrees with its payload.
std::string check_record(const RecordMeta& meta, const RecordBytes& bytes, std::uint64_t record, Tools& tools) {
  const bool indexed = decode_path(meta) == DecodePath::indexed_jpeg;
  if (indexed) {
    if (std::string reason = check_index(bytes, tools); !reason.empty()) return reason;
  }
  // Without the index: as libjpeg-turbo shows it.
  if (ImageResult result = tools.decoder.decode(meta, {bytes.payload, {}}, tools.whole); !result.ok()) {
    return "it does not decode: " + result.reason;
  }
  if (!indexed) return {};
  const Rect place = some_rect(tools.whole.size(), record);
  const RgbView part = tools.part.resize({place.width, place.height});
  if (ImageResult result = tools.decoder.decode(meta, bytes, place, part); !result.ok()) return result.reason;
  if (is_part_of(part, std::as_const(tools.whole).view(), place)) return {};
  return fmt::format("decoded by its index, the {}x{} pixels at {},{} are not those of the whole image", place.width,
                     place.height, place.x, place.y);
}

class PixelCheck {
 public:
  PixelCheck(const StoreReader& store, const VerifyOptions& options) : store_(store), options_(options) {}

  VerifyReport run() {
    parallel_blocks(store_.size(), kBlockRecords, options_.threads, [this](std::uint64_t begin, std::uint64_t end) {
      std::unique_ptr<Tools> tools = take_tools();
      std::uint64_t bytes = 0;
      for (std::uint64_t record = begin; record < end; ++record) bytes += check(record, *tools);
      store_.release(begin, end - begin);
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(tools));
      report_.records += end - begin;
      report_.payload_bytes += bytes;
      if (options_.progress && !options_.progress(report_.records, store_.size())) {
        throw Error(ErrorCode::invalid_argument, "cancelled");
      }
    });
    std::ranges::sort(report_.damage, {}, [](const Damage& damage) { return damage.record; });
    return std::move(report_);
  }

 private:
  /// Those of an earlier block, with the tables and the memory that they have kept, or new ones.
  std::unique_ptr<Tools> take_tools() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Tools> tools = std::move(idle_.back());
        idle_.pop_back();
        return tools;
      }
    }
    return std::make_unique<Tools>(options_.max_pixels);
  }

  std::uint64_t check(std::uint64_t record, Tools& tools) {
    std::string reason;
    std::uint64_t size = 0;
    try {
      const RecordBytes bytes = store_.bytes(record);
      size = bytes.payload.size();
      reason = check_record(store_.meta(record), bytes, record, tools);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      reason = error.message();
    }
    if (!reason.empty()) add(record, std::move(reason));
    return size;
  }

  void add(std::uint64_t record, std::string what) {
    Damage damage{.file = store_.path().string(), .record = record, .offset = {}, .what = std::move(what)};
    try {
      const PayloadPlace place = store_.place(record);
      damage.file = place.file->string();
      damage.offset = place.offset;
      damage.what = fmt::format("'{}': {}", store_.key(record), damage.what);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
    }
    const std::lock_guard lock(mutex_);
    ++report_.damage_count;
    // Those of the first records are kept, whatever thread finds them when.
    std::vector<Damage>& kept = report_.damage;
    kept.push_back(std::move(damage));
    std::ranges::push_heap(kept, {}, &Damage::record);
    if (kept.size() > options_.max_damage) {
      std::ranges::pop_heap(kept, {}, &Damage::record);
      kept.pop_back();
    }
  }

  const StoreReader& store_;
  const VerifyOptions& options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Tools>> idle_;
  VerifyReport report_;
};

}  // namespace

VerifyReport verify_pixels(const StoreReader& store, const VerifyOptions& options) {
  return PixelCheck(store, options).run();
}

}  // namespace imgpack
