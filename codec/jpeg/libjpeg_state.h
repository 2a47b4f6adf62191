// libjpeg-turbo's objects as C++ owns them: errors come back as return values, warnings are counted, nothing is
// printed. Used by the libjpeg_*.cc files only.
//
// libjpeg-turbo reports errors by a callback that must not return, so the callback jumps. Every call that can fail goes
// through attempt(), whose step must leave nothing behind that a jump would skip: no locals with destructors.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <type_traits>

#include <jpeglib.h>

#include "codec/image_header.h"
#include "codec/jpeg/libjpeg.h"
#include "mmap/byte_buffer.h"

namespace imgpack {

/// Scans after which a file is refused. Each scan may visit the whole image and cost a dozen bytes, so a small file
/// could keep a decoder busy for hours. Encoders write about ten; the longest useful sequence known, one scan for every
/// bit of a few coefficients, stays far below.
inline constexpr int kMaxScans = 256;

/// Where errors land. Its address must not change while libjpeg-turbo's objects refer to it.
class JpegErrors {
 public:
  JpegErrors() noexcept;
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  /// Runs step(); false if libjpeg-turbo gave up, and then message() says why.
  template <class Step>
  bool attempt(Step step) {
    static_assert(std::is_trivially_destructible_v<Step>);
    return run([](void* state) { (*static_cast<Step*>(state))(); }, &step);
  }
  /// Ends the attempt with `text`. Called from callbacks.
  [[noreturn]] void give_up(const char* text) noexcept;

  jpeg_error_mgr* manager() noexcept { return &manager_; }
  const char* message() const noexcept { return message_; }
  /// libjpeg-turbo's number of the error; 0 for those of give_up().
  int code() const noexcept { return code_; }
  bool out_of_memory() const noexcept;
  long warnings() const noexcept { return manager_.num_warnings; }

 private:
  static void on_error(j_common_ptr info);
  bool run(void (*step)(void*), void* state);

  jpeg_error_mgr manager_;
  std::jmp_buf escape_;
  char message_[JMSG_LENGTH_MAX] = {};
  int code_ = 0;
};

/// A decoder on bytes in memory that has at no time more than a window of them. It never makes an end-of-image marker
/// up: where the window ends, libjpeg-turbo suspends.
class JpegReader {
 public:
  /// `file` and `errors` must outlive this. Check ok().
  JpegReader(std::span<const std::byte> file, std::size_t window, std::uint64_t max_pixels, JpegErrors& errors);
  ~JpegReader();
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  bool ok() const noexcept { return created_; }
  jpeg_decompress_struct& info() noexcept { return info_; }
  /// Lets libjpeg-turbo see the next `size` bytes; false if there are none.
  bool extend_window(std::size_t size) noexcept;

 private:
  struct Source : jpeg_source_mgr {
    std::span<const std::byte> unseen;  ///< behind the window
    std::size_t to_skip = 0;            ///< of unseen
  };
  static void on_skip(j_decompress_ptr info, long size);
  static void on_progress(j_common_ptr info);

  jpeg_decompress_struct info_{};
  Source source_{};
  jpeg_progress_mgr progress_{};
  bool created_ = false;
};

/// An encoder into a byte buffer, which grows as needed.
class JpegWriter {
 public:
  /// `expected` bytes are set aside at first. Throws std::bad_alloc. `out` and `errors` must outlive this. Check ok().
  JpegWriter(ByteBuffer& out, std::size_t expected, JpegErrors& errors);
  ~JpegWriter();
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool ok() const noexcept { return created_; }
  jpeg_compress_struct& info() noexcept { return info_; }

 private:
  struct Destination : jpeg_destination_mgr {
    ByteBuffer* out = nullptr;
    void continue_at(std::size_t used) noexcept;
  };
  static void on_start(j_compress_ptr info);
  static boolean on_full(j_compress_ptr info);
  static void on_end(j_compress_ptr info);

  jpeg_compress_struct info_{};
  Destination destination_{};
  bool created_ = false;
};

/// What the header parser says of a file that is to be decoded. `header` is complete if the result is ok.
ImageResult check_jpeg_header(std::span<const std::byte> file, std::uint64_t max_pixels, ImageHeader& header);

/// Whether libjpeg-turbo has found the same frame, whose size callers rely on.
inline bool same_size(const jpeg_decompress_struct& info, const ImageHeader& header) noexcept {
  return info.image_width == header.width && info.image_height == header.height &&
         info.num_components == header.channels;
}

}  // namespace imgpack
