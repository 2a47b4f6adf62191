#include <gif_lib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "codec/other/decoders.h"

namespace imgpack::other {

namespace {

using headers::ByteReader;

struct CloseGif {
  void operator()(GifFileType* gif) const noexcept { DGifCloseFile(gif, nullptr); }
};
using Gif = std::unique_ptr<GifFileType, CloseGif>;

int read_bytes(GifFileType* gif, GifByteType* to, int size) {
  auto& reader = *static_cast<ByteReader*>(gif->UserData);
  const Bytes taken = reader.take_up_to(static_cast<std::uint64_t>(std::max(size, 0)));
  if (!taken.empty()) std::memcpy(to, taken.data(), taken.size());
  return static_cast<int>(taken.size());
}

ImageResult failed(const GifFileType& gif) {
  const char* reason = GifErrorString(gif.Error);
  return damaged(std::string("GIF is damaged: ") + (reason != nullptr ? reason : "it ends early"));
}

/// Reads up to the first image; `transparent` becomes its transparent colour.
ImageResult find_image(GifFileType& gif, std::optional<std::uint8_t>& transparent) {
  while (true) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(&gif, &type) == GIF_ERROR) return failed(gif);
    if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(&gif) == GIF_OK ? ImageResult{} : failed(gif);
    if (type == TERMINATE_RECORD_TYPE) return damaged("GIF has no image");
    if (type != EXTENSION_RECORD_TYPE) continue;
    int label = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(&gif, &label, &block) == GIF_ERROR) return failed(gif);
    if (label == GRAPHICS_EXT_FUNC_CODE && block != nullptr && block[0] >= 4 && (block[1] & 1) != 0) {
      transparent = block[4];
    }
    while (block != nullptr) {
      if (DGifGetExtensionNext(&gif, &block) == GIF_ERROR) return failed(gif);
    }
  }
}

/// Pillow takes a palette that is a gray ramp for no palette, which lets the global one through.
bool is_gray_ramp(const ColorMapObject& map) {
  for (int i = 0; i < map.ColorCount; ++i) {
    const GifColorType& colour = map.Colors[i];
    if (colour.Red != i || colour.Green != i || colour.Blue != i) return false;
  }
  return true;
}

Palette palette_of(const GifFileType& gif) {
  Palette palette;
  const ColorMapObject* map = gif.Image.ColorMap;
  if (map == nullptr || is_gray_ramp(*map)) map = gif.SColorMap;
  if (map == nullptr) return palette;
  for (int i = 0; i < std::min(map->ColorCount, 256); ++i) {
    palette.set(i, map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue);
  }
  return palette;
}

ImageResult read_rows(GifFileType& gif, const Palette& palette, RgbView out) {
  struct Pass {
    int first, step;
  };
  static constexpr Pass kInterlaced[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  static constexpr Pass kPlain[] = {{0, 1}};
  const GifImageDesc& image = gif.Image;
  std::vector<GifPixelType> row(static_cast<std::size_t>(image.Width));
  for (const Pass& pass : image.Interlace ? std::span<const Pass>(kInterlaced) : std::span<const Pass>(kPlain)) {
    for (int y = pass.first; y < image.Height; y += pass.step) {
      if (DGifGetLine(&gif, row.data(), image.Width) == GIF_ERROR) return failed(gif);
      std::uint8_t* rgb = out.row(static_cast<std::uint32_t>(image.Top + y)) + image.Left * 3;
      for (int x = 0; x < image.Width; ++x) palette.put(row[static_cast<std::size_t>(x)], rgb + x * 3);
    }
  }
  return {};
}

}  // namespace

ImageResult decode_gif(Bytes file, const ImageHeader& header, RgbImage& out) {
  ByteReader reader(file);
  const Gif gif(DGifOpen(&reader, read_bytes, nullptr));
  if (gif == nullptr) return damaged("GIF has a damaged header");
  std::optional<std::uint8_t> transparent;
  if (ImageResult result = find_image(*gif, transparent); !result.ok()) return result;

  const GifImageDesc& image = gif->Image;
  const RgbView view = out.resize({header.width, header.height});
  const bool inside = image.Left >= 0 && image.Top >= 0 && image.Width > 0 && image.Height > 0 &&
                      lies_in({static_cast<std::uint32_t>(image.Left), static_cast<std::uint32_t>(image.Top),
                               static_cast<std::uint32_t>(image.Width), static_cast<std::uint32_t>(image.Height)},
                              out.size());
  if (!inside) return damaged("GIF has an image without pixels");
  const Palette palette = palette_of(*gif);
  // Around the image, the canvas has the transparent colour, or else the first.
  for (std::uint32_t y = 0; y < view.height; ++y) {
    for (std::uint32_t x = 0; x < view.width; ++x) palette.put(transparent.value_or(0), view.row(y) + x * 3);
  }
  return read_rows(*gif, palette, view);
}

}  // namespace imgpack::other
