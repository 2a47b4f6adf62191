// What a look at one record's bytes tells: whether they are whole, whether they decode, and what kind they are of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/decode.h"
#include "codec/jpeg/index_builder.h"
#include "imgpack/record.h"
#include "mmap/byte_buffer.h"

namespace imgpack::tools {

struct RecordCheck {
  bool whole = false;  ///< its bytes have their checksum
  /// Why the record is damaged: its checksum is wrong, or it does not decode. Empty if it is good.
  std::string damage;
  /// Why a JPEG that decodes does not do so cleanly to its end. Empty if it does.
  std::string incomplete;
  /// Why it could not be decoded here: too large, or a type that this build lacks. Empty if it was.
  std::string not_decoded;
  /// Why there is no segment index; empty if there is one.
  std::string unindexed;
  std::string jpeg_kind;  ///< jpeg_kind(); empty if it is no JPEG
  int orientation = 1;    ///< EXIF, 1 to 8
  bool gray = false;      ///< no pixel has a colour to speak of
};

/// Not thread-safe; keeps memory and tables from record to record.
class RecordChecker {
 public:
  explicit RecordChecker(std::uint64_t max_pixels);

  /// Decodes the whole image as a loader would. What is not known because of damage stays as it is in a new
  /// RecordCheck. Throws std::bad_alloc.
  RecordCheck check(const RecordMeta& meta, const RecordBytes& bytes);

 private:
  std::string why_unindexed(const RecordMeta& meta, const RecordBytes& bytes, bool& clean);

  std::uint64_t max_pixels_;
  ImageDecoder decoder_;
  jpeg::IndexBuilder index_builder_;
  ByteBuffer buffer_;
};

}  // namespace imgpack::tools
