// Rewriting the entropy coding of a file, and comparing coefficients.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "codec/jpeg/libjpeg_state.h"
#include "codec/jpeg/restart_interval.h"

namespace imgpack {

namespace {

/// All coefficients of a file in memory, with its markers.
class CoefficientFile {
 public:
  /// `file` must outlive this.
  CoefficientFile(std::span<const std::byte> file, std::uint64_t max_pixels)
      : reader_(file, file.size(), max_pixels, errors_) {}

  enum class Outcome : std::uint8_t { ok, ended_early, failed };
  Outcome read();

  JpegErrors& errors() noexcept { return errors_; }
  jpeg_decompress_struct& info() noexcept { return reader_.info(); }
  jvirt_barray_ptr* coefficients() const noexcept { return coefficients_; }
  /// Warnings about anything behind the header: whatever stands before the first scan, coefficients don't depend on.
  long warnings() const noexcept { return errors_.warnings() - header_warnings_; }
  /// Whether a missing end-of-image marker leaves no doubt that the coefficients are complete: Huffman decoding warns
  /// if they are not.
  bool shows_missing_data() noexcept {
    return !info().progressive_mode && !info().arith_code && info().comps_in_scan == info().num_components;
  }
  /// Whether a colour marker stands behind the start of the first scan, where it does not count.
  bool has_late_colour_markers() noexcept;

 private:
  JpegErrors errors_;
  JpegReader reader_;
  jvirt_barray_ptr* coefficients_ = nullptr;
  long header_warnings_ = 0;
  jpeg_saved_marker_ptr last_header_marker_ = nullptr;
};

CoefficientFile::Outcome CoefficientFile::read() {
  if (!reader_.ok()) return Outcome::failed;
  int header = JPEG_SUSPENDED;
  const bool done = errors_.attempt([&] {
    jpeg_save_markers(&info(), JPEG_COM, 0xffff);
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&info(), JPEG_APP0 + i, 0xffff);
    do {  // tables may come in a stream of their own
      header = jpeg_read_header(&info(), FALSE);
    } while (header == JPEG_HEADER_TABLES_ONLY);
    if (header != JPEG_HEADER_OK) return;
    header_warnings_ = errors_.warnings();
    last_header_marker_ = info().marker_list;
    while (last_header_marker_ != nullptr && last_header_marker_->next != nullptr) {
      last_header_marker_ = last_header_marker_->next;
    }
    coefficients_ = jpeg_read_coefficients(&info());
  });
  if (!done) return Outcome::failed;
  return coefficients_ == nullptr ? Outcome::ended_early : Outcome::ok;
}

bool CoefficientFile::has_late_colour_markers() noexcept {
  const jpeg_saved_marker_ptr late = last_header_marker_ == nullptr ? info().marker_list : last_header_marker_->next;
  for (jpeg_saved_marker_ptr marker = late; marker != nullptr; marker = marker->next) {
    if (marker->marker == JPEG_APP0 || marker->marker == JPEG_APP0 + 14) return true;
  }
  return false;
}

/// A file whose coefficients have been read, with the bytes that it may need.
struct LoadedFile {
  std::vector<std::byte> completed;
  std::optional<CoefficientFile> file;
};

ImageResult load(std::span<const std::byte> bytes, std::uint64_t max_pixels, LoadedFile& loaded) {
  ImageHeader header;
  if (ImageResult result = check_jpeg_header(bytes, max_pixels, header); !result.ok()) return result;
  CoefficientFile::Outcome outcome = loaded.file.emplace(bytes, max_pixels).read();
  if (outcome == CoefficientFile::Outcome::ended_early && loaded.file->shows_missing_data()) {
    loaded.completed.assign(bytes.begin(), bytes.end());
    for (const int byte : {0xff, JPEG_EOI}) loaded.completed.push_back(static_cast<std::byte>(byte));
    outcome = loaded.file.emplace(loaded.completed, max_pixels).read();
  }
  switch (outcome) {
    case CoefficientFile::Outcome::ok:
      break;
    case CoefficientFile::Outcome::ended_early:
      return {ImageStatus::truncated, "JPEG ends before its image does"};
    case CoefficientFile::Outcome::failed:
      if (loaded.file->errors().out_of_memory()) throw std::bad_alloc();
      return {ImageStatus::damaged, fmt::format("JPEG is damaged: {}", loaded.file->errors().message())};
  }
  if (!same_size(loaded.file->info(), header)) return {ImageStatus::damaged, "JPEG has two frame headers"};
  if (loaded.file->warnings() != 0) return {ImageStatus::damaged, "JPEG has damaged pixels"};
  return {};
}

struct McuLayout {
  unsigned per_row = 0;
  unsigned blocks = 0;  ///< in each
};

McuLayout interleaved_layout(const jpeg_decompress_struct& info) {
  const auto divide_up = [](unsigned a, unsigned b) { return (a + b - 1) / b; };
  if (info.num_components == 1) return {info.comp_info[0].width_in_blocks, 1};
  McuLayout layout;
  layout.per_row = divide_up(info.image_width, static_cast<unsigned>(info.max_h_samp_factor) * DCTSIZE);
  for (int c = 0; c < info.num_components; ++c) {
    layout.blocks += static_cast<unsigned>(info.comp_info[c].h_samp_factor * info.comp_info[c].v_samp_factor);
  }
  return layout;
}

ImageResult write(CoefficientFile& source, const TranscodeOptions& options, std::size_t expected, ByteBuffer& out) {
  const McuLayout mcus = interleaved_layout(source.info());
  if (mcus.blocks > C_MAX_BLOCKS_IN_MCU) {
    return {ImageStatus::unsupported, fmt::format("JPEG would have {} blocks in an MCU", mcus.blocks)};
  }
  JpegErrors& errors = source.errors();
  JpegWriter writer(out, expected, errors);
  jpeg_compress_struct& info = writer.info();
  const unsigned restart_interval = options.restart_markers ? choose_restart_interval(mcus.per_row, mcus.blocks) : 0;
  const bool done = writer.ok() && errors.attempt([&] {
    jpeg_copy_critical_parameters(&source.info(), &info);
    info.optimize_coding = TRUE;
    info.restart_interval = restart_interval;
    // The source's own markers say what these would.
    info.write_JFIF_header = FALSE;
    info.write_Adobe_marker = FALSE;
    jpeg_write_coefficients(&info, source.coefficients());
    for (jpeg_saved_marker_ptr marker = source.info().marker_list; marker != nullptr; marker = marker->next) {
      jpeg_write_marker(&info, marker->marker, marker->data, marker->data_length);
    }
    jpeg_finish_compress(&info);
  });
  if (done) return {};
  if (errors.out_of_memory()) throw std::bad_alloc();
  return {ImageStatus::unsupported, fmt::format("JPEG can't be transcoded: {}", errors.message())};
}

bool same_component(const jpeg_component_info& a, const jpeg_component_info& b) {
  if (a.component_id != b.component_id || a.h_samp_factor != b.h_samp_factor || a.v_samp_factor != b.v_samp_factor ||
      a.width_in_blocks != b.width_in_blocks || a.height_in_blocks != b.height_in_blocks) {
    return false;
  }
  if (a.quant_table == nullptr || b.quant_table == nullptr) return a.quant_table == b.quant_table;
  return std::equal(std::begin(a.quant_table->quantval), std::end(a.quant_table->quantval),
                    std::begin(b.quant_table->quantval));
}

bool same_frame(const jpeg_decompress_struct& a, const jpeg_decompress_struct& b) {
  return a.image_width == b.image_width && a.image_height == b.image_height && a.num_components == b.num_components &&
         a.jpeg_color_space == b.jpeg_color_space &&
         std::equal(a.comp_info, a.comp_info + a.num_components, b.comp_info, same_component);
}

/// One row of blocks; nothing beyond the image's own blocks is compared.
JBLOCKROW block_row(CoefficientFile& file, int component, JDIMENSION y) {
  auto* info = reinterpret_cast<j_common_ptr>(&file.info());
  return *info->mem->access_virt_barray(info, file.coefficients()[component], y, 1, FALSE);
}

bool same_blocks(CoefficientFile& a, CoefficientFile& b, int component) {
  const jpeg_component_info& shape = a.info().comp_info[component];
  for (JDIMENSION y = 0; y < shape.height_in_blocks; ++y) {
    JBLOCKROW row_a = nullptr;
    JBLOCKROW row_b = nullptr;
    if (!a.errors().attempt([&] { row_a = block_row(a, component, y); })) return false;
    if (!b.errors().attempt([&] { row_b = block_row(b, component, y); })) return false;
    if (std::memcmp(row_a, row_b, sizeof(JBLOCK) * shape.width_in_blocks) != 0) return false;
  }
  return true;
}

}  // namespace

ImageResult transcode_jpeg(std::span<const std::byte> file, std::uint64_t max_pixels, const TranscodeOptions& options,
                           ByteBuffer& out) {
  LoadedFile source;
  if (ImageResult result = load(file, max_pixels, source); !result.ok()) return result;
  if (source.file->has_late_colour_markers()) {
    return {ImageStatus::unsupported, "JPEG has a colour marker between its scans"};
  }
  return write(*source.file, options, file.size() + file.size() / 8, out);
}

bool same_coefficients(std::span<const std::byte> a, std::span<const std::byte> b) {
  LoadedFile first;
  LoadedFile second;
  constexpr std::uint64_t kMaxPixels = std::uint64_t{JPEG_MAX_DIMENSION} * JPEG_MAX_DIMENSION;
  if (!load(a, kMaxPixels, first).ok() || !load(b, kMaxPixels, second).ok()) return false;
  if (!same_frame(first.file->info(), second.file->info())) return false;
  for (int c = 0; c < first.file->info().num_components; ++c) {
    if (!same_blocks(*first.file, *second.file, c)) return false;
  }
  return true;
}

}  // namespace imgpack
