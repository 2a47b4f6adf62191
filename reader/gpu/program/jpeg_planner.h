// From a JPEG record to the task that a device can carry out. No CUDA here.
#pragma once

#include <cstddef>
#include <span>

#include "codec/image.h"
#include "imgpack/record.h"
#include "reader/gpu/program/jpeg_task.h"

namespace imgpack::gpu {

/// The bytes of a record that the device needs.
struct JpegBytes {
  std::span<const std::byte> entries;  ///< of the segment index
  std::span<const std::byte> scan;     ///< bytes [scan_begin, scan_end) of the scan
};

/// Sets everything of `task` but addresses, so that `part` of the image can be decoded. False for a record that is to
/// be left to the host: without an index that fits it, with tables that the device has no room for, or with an index
/// that contradicts itself where that can be seen; the host then tells what is wrong. REQUIRES: `part` is not empty and
/// lies in an image of the record's size.
bool plan_jpeg(const RecordMeta& meta, const RecordBytes& bytes, const Rect& part, JpegTask& task, JpegBytes& needed);

}  // namespace imgpack::gpu
