// A StoreReader over a mapped data file and a ColumnTable: the common reader of rec, HDF5 and TFRecord.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "formats/columns.h"
#include "imgpack/store.h"
#include "mmap/mapped_file.h"

namespace imgpack {

struct ColumnStoreParts {
  Format format = Format::rec;
  MappedFile data;                ///< payloads
  std::vector<MappedFile> extra;  ///< whatever else the columns point into
  DatasetInfo info;
  ColumnTable columns;
  /// The format's own checks: everything but the records' payloads.
  std::function<void(const MappedFile& data, const ColumnTable& columns, const DatasetInfo& info, DamageSink& sink)>
      check_container;
};

std::unique_ptr<StoreReader> make_column_store(ColumnStoreParts parts);

}  // namespace imgpack
