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

// What kernels rely on in a planned task, whatever the file and its index say; what is not in this list they check. The
// fuzzer (jpeg_task_check.h) holds the planner to it:
//   - plan.columns and plan.rows are not empty, lie in the image, and cover the part;
//   - segments [first_segment, first_segment + segments_in_row) are of one row of the index, and each of them has
//     an MCU of the part, so that segment(i) is below segment_count() and rises with i;
//   - scan_begin < scan_end <= frame.scan_size; needed.scan are just those bytes; the first segment begins in byte
//     scan_begin;
//   - needed.entries has an entry for each segment of the image. What entries say is not checked: any segment but the
//     first may begin outside of [scan_begin, scan_end), or before the one in front of it;
//   - table_pair[c] < kTablePairs for each component; all tables' counts, of pairs that nobody uses too, are those of a
//     prefix code of at most 256 symbols. Which values symbols have is not checked;
//   - planes[c].stride is a multiple of 32 and has room for the columns' blocks.

/// Sets everything of `task` but addresses, so that `part` of the image can be decoded. False for a record that is to
/// be left to the host: without an index that fits it, with tables that the device has no room for, or with an index
/// that contradicts itself where that can be seen; the host then tells what is wrong. REQUIRES: `part` is not empty and
/// lies in an image of the record's size.
bool plan_jpeg(const RecordMeta& meta, const RecordBytes& bytes, const Rect& part, JpegTask& task, JpegBytes& needed);

}  // namespace imgpack::gpu
