#include "tools/view/thumbnails.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "codec/resize/resizer.h"
#include "codec/resize/torchvision_size.h"
#include "formats/parallel_blocks.h"
#include "imgpack/error.h"
#include "tools/interrupt.h"

namespace imgpack::tools {

namespace {

constexpr int kGround = 0xd8;

class ThumbnailMaker {
 public:
  explicit ThumbnailMaker(std::uint64_t max_pixels)
      : max_pixels_(max_pixels), decoder_(&decode_other_image, max_pixels) {}

  Thumbnail make(const Collection& collection, std::uint64_t record, std::uint32_t side) {
    Thumbnail thumbnail;
    try {
      const RecordMeta meta = collection.meta(record);
      const RecordBytes bytes = collection.bytes(record);
      decode(meta, bytes, side, thumbnail);
      if (record_checksum(bytes.payload, bytes.segments) != meta.checksum) {
        fail(thumbnail, "its bytes do not have the checksum that was stored");
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      fail(thumbnail, error.message());
    }
    return thumbnail;
  }

 private:
  static void fail(Thumbnail& thumbnail, std::string problem) {
    thumbnail.problem = std::move(problem);
    thumbnail.damaged = true;
  }

  void decode(const RecordMeta& meta, const RecordBytes& bytes, std::uint32_t side, Thumbnail& thumbnail) {
    const Size size{meta.width, meta.height};
    ImageResult result = check_image_size(meta, max_pixels_);
    if (result.ok()) {
      start(size, thumbnail_size(size, side), thumbnail.image);
      const Rect all{0, 0, size.width, size.height};
      result = decoder_.decode(meta, bytes, all, resizer_);
      if (result.status == ImageStatus::damaged && !bytes.segments.empty()) {
        // The index may be what is wrong; without it libjpeg-turbo shows what there is.
        start(size, thumbnail_size(size, side), thumbnail.image);
        decoder_.decode(meta, {bytes.payload, {}}, all, resizer_);
      }
    }
    if (result.ok()) return;
    thumbnail.damaged = result.status == ImageStatus::damaged || result.status == ImageStatus::truncated;
    thumbnail.problem = std::move(result.reason);
  }

  void start(Size source, Size small, RgbImage& image) {
    const RgbView view = image.resize(small);
    std::memset(view.pixels, kGround, image.bytes().size());
    resizer_.start({.source = source, .box = whole(source), .interpolation = Interpolation::bilinear}, view);
  }

  std::uint64_t max_pixels_;
  ImageDecoder decoder_;
  Resizer resizer_;
};

}  // namespace

Size thumbnail_size(Size image, std::uint32_t side) {
  const std::uint32_t longer = std::max(image.width, image.height);
  if (longer <= side) return image;
  return {static_cast<std::uint32_t>(proportional_side(image.width, longer, side)),
          static_cast<std::uint32_t>(proportional_side(image.height, longer, side))};
}

void make_thumbnails(const Collection& collection, std::span<const std::uint64_t> records, std::uint32_t side,
                     std::uint64_t max_pixels, unsigned threads,
                     const std::function<void(std::size_t, Thumbnail)>& take) {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThumbnailMaker>> idle;
  parallel_blocks(records.size(), 1, threads, [&](std::uint64_t at, std::uint64_t) {
    std::unique_ptr<ThumbnailMaker> maker;
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        maker = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!maker) maker = std::make_unique<ThumbnailMaker>(max_pixels);
    stop_if_interrupted();
    Thumbnail thumbnail = maker->make(collection, records[at], side);
    const std::lock_guard lock(mutex);
    take(at, std::move(thumbnail));
    idle.push_back(std::move(maker));
  });
}

}  // namespace imgpack::tools
