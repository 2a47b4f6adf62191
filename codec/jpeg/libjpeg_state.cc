#include "codec/jpeg/libjpeg_state.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <jerror.h>

namespace imgpack {

JpegErrors::JpegErrors() noexcept {
  jpeg_std_error(&manager_);
  manager_.error_exit = on_error;
  manager_.output_message = [](j_common_ptr) {};
  manager_.emit_message = [](j_common_ptr info, int level) {
    if (level < 0) ++info->err->num_warnings;
  };
}

void JpegErrors::on_error(j_common_ptr info) {
  auto& errors = *static_cast<JpegErrors*>(info->client_data);
  errors.manager_.format_message(info, errors.message_);
  errors.code_ = errors.manager_.msg_code;
  std::longjmp(errors.escape_, 1);
}

void JpegErrors::give_up(const char* text) noexcept {
  std::snprintf(message_, sizeof message_, "%s", text);
  code_ = 0;
  std::longjmp(escape_, 1);
}

bool JpegErrors::out_of_memory() const noexcept {
  return code_ == JERR_OUT_OF_MEMORY;
}

// Not inlined, so that no caller's local lives in a register that a jump would restore.
[[gnu::noinline]] bool JpegErrors::run(void (*step)(void*), void* state) {
  if (setjmp(escape_) != 0) return false;
  step(state);
  return true;
}

JpegReader::JpegReader(std::span<const std::byte> file, std::size_t window, std::uint64_t max_pixels,
                       JpegErrors& errors) {
  info_.err = errors.manager();
  info_.client_data = &errors;  // creating leaves these two alone
  created_ = errors.attempt([this] { jpeg_create_decompress(&info_); });
  if (!created_) return;
  source_.init_source = [](j_decompress_ptr) {};
  source_.fill_input_buffer = [](j_decompress_ptr) -> boolean { return FALSE; };
  source_.skip_input_data = on_skip;
  source_.resync_to_restart = jpeg_resync_to_restart;
  source_.term_source = [](j_decompress_ptr) {};
  source_.unseen = file;
  info_.src = &source_;
  progress_.progress_monitor = on_progress;
  info_.progress = &progress_;
  // Four components of two-byte coefficients, padded; what markers hold is bounded by the file.
  constexpr std::uint64_t kFixed = std::uint64_t{64} << 20;
  constexpr std::uint64_t kMost = std::numeric_limits<long>::max();
  const std::uint64_t pixels = std::min(max_pixels, kMost / 32);
  info_.mem->max_memory_to_use = static_cast<long>(std::min(kFixed + pixels * 16 + file.size() * 2, kMost));
  extend_window(window);
}

JpegReader::~JpegReader() {
  jpeg_destroy_decompress(&info_);
}

bool JpegReader::extend_window(std::size_t size) noexcept {
  if (source_.unseen.empty()) return false;
  // The window is a part of the file in memory: it grows in place, and what libjpeg-turbo has not consumed stays.
  if (source_.bytes_in_buffer == 0) source_.next_input_byte = reinterpret_cast<const JOCTET*>(source_.unseen.data());
  const std::size_t taken = std::min(size, source_.unseen.size());
  source_.bytes_in_buffer += taken;
  source_.unseen = source_.unseen.subspan(taken);
  const std::size_t skipped = std::min(source_.to_skip, source_.bytes_in_buffer);
  source_.next_input_byte += skipped;
  source_.bytes_in_buffer -= skipped;
  source_.to_skip -= skipped;
  return true;
}

void JpegReader::on_skip(j_decompress_ptr info, long size) {
  if (size <= 0) return;
  auto& source = *static_cast<Source*>(info->src);
  const std::size_t here = std::min(static_cast<std::size_t>(size), source.bytes_in_buffer);
  source.next_input_byte += here;
  source.bytes_in_buffer -= here;
  source.to_skip += static_cast<std::size_t>(size) - here;
}

void JpegReader::on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
  static_cast<JpegErrors*>(info->client_data)->give_up("it has more scans than any encoder writes");
}

JpegWriter::JpegWriter(ByteBuffer& out, std::size_t expected, JpegErrors& errors) {
  out.resize(std::max<std::size_t>(expected, 1024));
  info_.err = errors.manager();
  info_.client_data = &errors;
  created_ = errors.attempt([this] { jpeg_create_compress(&info_); });
  if (!created_) return;
  destination_.init_destination = on_start;
  destination_.empty_output_buffer = on_full;
  destination_.term_destination = on_end;
  destination_.out = &out;
  info_.dest = &destination_;
}

JpegWriter::~JpegWriter() {
  jpeg_destroy_compress(&info_);
}

void JpegWriter::Destination::continue_at(std::size_t used) noexcept {
  next_output_byte = reinterpret_cast<JOCTET*>(out->data()) + used;
  free_in_buffer = out->size() - used;
}

void JpegWriter::on_start(j_compress_ptr info) {
  static_cast<Destination*>(info->dest)->continue_at(0);
}

namespace {

/// False if memory runs out. The content is kept.
bool double_size(ByteBuffer& buffer) noexcept {
  try {
    ByteBuffer larger;
    larger.resize(buffer.size() * 2);
    std::memcpy(larger.data(), buffer.data(), buffer.size());
    buffer = std::move(larger);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

boolean JpegWriter::on_full(j_compress_ptr info) {
  auto& destination = *static_cast<Destination*>(info->dest);
  const std::size_t used = destination.out->size();  // libjpeg-turbo calls when all of it is
  if (!double_size(*destination.out)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  destination.continue_at(used);
  return TRUE;
}

void JpegWriter::on_end(j_compress_ptr info) {
  auto& destination = *static_cast<Destination*>(info->dest);
  destination.out->shrink(destination.out->size() - destination.free_in_buffer);
}

ImageResult check_jpeg_header(std::span<const std::byte> file, std::uint64_t max_pixels, ImageHeader& header) {
  ImageHeaderResult result = read_image_header(file, max_pixels);
  header = result.header;
  switch (result.status) {
    case ImageHeaderStatus::ok:
      if (header.codec == Codec::jpeg) return {};
      return {ImageStatus::damaged, "not a JPEG"};
    case ImageHeaderStatus::truncated:
      return {ImageStatus::truncated, std::move(result.reason)};
    case ImageHeaderStatus::too_large:
      return {ImageStatus::too_large, std::move(result.reason)};
    case ImageHeaderStatus::empty:
    case ImageHeaderStatus::unrecognised:
    case ImageHeaderStatus::malformed:
      break;
  }
  return {ImageStatus::damaged, std::move(result.reason)};
}

}  // namespace imgpack
