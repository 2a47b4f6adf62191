#include <webp/demux.h>

#include <memory>

#include "codec/other/decoders.h"

namespace imgpack::other {

namespace {

struct DeleteDecoder {
  void operator()(WebPAnimDecoder* decoder) const noexcept { WebPAnimDecoderDelete(decoder); }
};

}  // namespace

ImageResult decode_webp(Bytes file, const ImageHeader& header, RgbImage& out) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) return unsupported("libwebp is of an incompatible version");
  options.color_mode = MODE_RGBA;
  const WebPData data = {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()};
  // Still images too go through the animation decoder, as in Pillow; it keeps two canvases of 4 bytes a pixel.
  const std::unique_ptr<WebPAnimDecoder, DeleteDecoder> decoder(WebPAnimDecoderNew(&data, &options));
  if (decoder == nullptr) return damaged("WebP has a damaged header");
  WebPAnimInfo info;
  if (WebPAnimDecoderGetInfo(decoder.get(), &info) == 0 || info.canvas_width != header.width ||
      info.canvas_height != header.height) {
    return damaged("WebP has a damaged header");
  }
  std::uint8_t* canvas = nullptr;
  int timestamp = 0;
  if (WebPAnimDecoderGetNext(decoder.get(), &canvas, &timestamp) == 0) return damaged("WebP has damaged pixels");

  const RgbView view = out.resize({header.width, header.height});
  for (std::uint32_t y = 0; y < view.height; ++y) {
    const std::uint8_t* rgba = canvas + std::size_t{y} * view.width * 4;
    std::uint8_t* rgb = view.row(y);
    for (std::uint32_t x = 0; x < view.width; ++x) {
      for (int c = 0; c < 3; ++c) rgb[x * 3 + c] = rgba[x * 4 + c];
    }
  }
  return {};
}

}  // namespace imgpack::other
