// Decoding whole images as Pillow does. What Pillow accepts follows from how it calls libjpeg-turbo (JpegDecode.c):
// data arrive in blocks, running out of them suspends, and only the last row must be reached.
#include <algorithm>
#include <array>
#include <new>

#include <fmt/format.h>
#include <jerror.h>

#include "codec/inks.h"
#include "codec/jpeg/libjpeg_state.h"

namespace imgpack {

namespace {

/// Pillow's ImageFile.MAXBLOCK. It shows in the result: what stands behind the last row, and makes libjpeg-turbo give
/// up, is only seen if it lies in the block that completes that row.
constexpr std::size_t kBlockSize = 65536;
constexpr unsigned kBatchRows = 16;

/// Pillow takes CMYK for stored inverted, as Adobe does.
void convert_cmyk(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixels) noexcept {
  for (std::size_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    inks_to_rgb(255u - cmyk[0], 255u - cmyk[1], 255u - cmyk[2], 255u - cmyk[3], rgb);
  }
}

class WholeDecode {
 public:
  WholeDecode(std::span<const std::byte> file, std::uint64_t max_pixels)
      : file_size_(file.size()), reader_(file, kBlockSize, max_pixels, errors_) {}

  ImageResult run(const ImageHeader& header, RowSink& sink);

 private:
  enum class Step : std::uint8_t { done, suspended, failed };

  Step read_header();
  Step start();
  /// Reads rows into `rows` from `filled` on, as many as there are data for.
  Step read_rows(std::span<std::uint8_t*> rows, unsigned& filled);
  bool finish();
  /// Repeats `step` with more and more data until it does not suspend.
  template <class Work>
  Step with_data(Work work);
  ImageResult hand_out(RowSink& sink);
  ImageResult failure(Step step) const;

  std::size_t file_size_;
  JpegErrors errors_;
  JpegReader reader_;
};

template <class Work>
WholeDecode::Step WholeDecode::with_data(Work work) {
  Step step = work();
  while (step == Step::suspended && reader_.extend_window(kBlockSize)) step = work();
  return step;
}

ImageResult WholeDecode::failure(Step step) const {
  if (step == Step::failed && errors_.out_of_memory()) throw std::bad_alloc();
  if (step == Step::suspended || errors_.code() == JERR_CANT_SUSPEND) {
    return {ImageStatus::truncated, "JPEG ends before its image does"};
  }
  return {ImageStatus::damaged, fmt::format("JPEG is damaged: {}", errors_.message())};
}

WholeDecode::Step WholeDecode::read_header() {
  int outcome = JPEG_SUSPENDED;
  jpeg_decompress_struct& info = reader_.info();
  const bool done = errors_.attempt([&] {
    // Files may begin with tables and an end-of-image marker of their own.
    do {
      outcome = jpeg_read_header(&info, FALSE);
    } while (outcome == JPEG_HEADER_TABLES_ONLY);
  });
  if (!done) return Step::failed;
  return outcome == JPEG_HEADER_OK ? Step::done : Step::suspended;
}

WholeDecode::Step WholeDecode::start() {
  boolean started = FALSE;
  if (!errors_.attempt([&] { started = jpeg_start_decompress(&reader_.info()); })) return Step::failed;
  return started ? Step::done : Step::suspended;
}

WholeDecode::Step WholeDecode::read_rows(std::span<std::uint8_t*> rows, unsigned& filled) {
  bool suspended = false;
  const bool done = errors_.attempt([&] {
    while (filled < rows.size() && !suspended) {
      const JDIMENSION read =
          jpeg_read_scanlines(&reader_.info(), rows.data() + filled, static_cast<JDIMENSION>(rows.size() - filled));
      filled += read;
      suspended = read == 0;
    }
  });
  if (!done) return Step::failed;
  return suspended ? Step::suspended : Step::done;
}

/// An end-of-image marker may be missing, but an error on the way to it counts.
bool WholeDecode::finish() {
  return errors_.attempt([&] { jpeg_finish_decompress(&reader_.info()); });
}

ImageResult WholeDecode::run(const ImageHeader& header, RowSink& sink) {
  if (!reader_.ok()) return failure(Step::failed);
  Step step = with_data([&] { return read_header(); });
  if (step != Step::done) return failure(step);
  jpeg_decompress_struct& info = reader_.info();
  if (!same_size(info, header)) return {ImageStatus::damaged, "JPEG has two frame headers"};
  info.out_color_space = info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  // The arithmetic decoder can't suspend. Pillow refuses such files beyond its first block; here they are decoded.
  if (info.arith_code) reader_.extend_window(file_size_);
  step = with_data([&] { return start(); });
  if (step != Step::done) return failure(step);
  ImageResult result = hand_out(sink);
  if (result.ok() && !finish()) return failure(Step::failed);
  return result;
}

ImageResult WholeDecode::hand_out(RowSink& sink) {
  const jpeg_decompress_struct& info = reader_.info();
  const std::uint32_t width = info.output_width;
  const std::uint32_t height = info.output_height;
  const std::size_t stride = std::size_t{width} * static_cast<unsigned>(info.output_components);
  RgbImage batch;
  const RgbView view = batch.resize({width, std::min<std::uint32_t>(height, kBatchRows)});
  ByteBuffer decoded;  // CMYK only
  std::uint8_t* first = view.pixels;
  if (info.output_components == 4) first = reinterpret_cast<std::uint8_t*>(decoded.resize(stride * view.height).data());
  std::array<std::uint8_t*, kBatchRows> rows{};
  for (std::uint32_t i = 0; i < view.height; ++i) rows[i] = first + i * stride;

  for (std::uint32_t y = 0; y < height;) {
    const std::uint32_t wanted = std::min<std::uint32_t>(height - y, kBatchRows);
    unsigned filled = 0;
    const Step step = with_data([&] { return read_rows(std::span(rows).first(wanted), filled); });
    if (info.output_components == 4) convert_cmyk(first, view.pixels, std::size_t{width} * filled);
    if (filled != 0) sink.take(y, {view.pixels, width, filled, view.stride});
    if (step != Step::done) return failure(step);
    y += filled;
  }
  return {};
}

}  // namespace

ImageResult decode_jpeg_rows(std::span<const std::byte> file, std::uint64_t max_pixels, RowSink& rows) {
  ImageHeader header;
  if (ImageResult result = check_jpeg_header(file, max_pixels, header); !result.ok()) return result;
  return WholeDecode(file, max_pixels).run(header, rows);
}

}  // namespace imgpack
