// What verify looks at in a TFRecord besides the records' checksums: frames, Examples against the index, and the .idx.
#pragma once

#include <filesystem>

#include "formats/columns.h"
#include "imgpack/dataset_info.h"
#include "imgpack/store.h"
#include "mmap/mapped_file.h"

namespace imgpack {

struct FrameCheck {
  const MappedFile& data;
  const ColumnTable& columns;
  const DatasetInfo& info;
  /// The columns come from the writer, not from a scan of the same frames: then also the chain must fit.
  bool written_index = false;
};

/// Every CRC, every byte between frames, every Example against the columns. Returns false if `sink` wants no more.
bool check_frames(const FrameCheck& check, DamageSink& sink);

/// The "offset size" lines against the columns. Returns false if `sink` wants no more.
bool check_idx_file(const std::filesystem::path& idx, const ColumnTable& columns, DamageSink& sink);

}  // namespace imgpack
