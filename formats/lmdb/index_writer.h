// Writes the named databases of a dataset whose payloads are all in the main database.
#pragma once

#include <filesystem>

#include "formats/lmdb/environment.h"
#include "formats/record_log.h"
#include "imgpack/dataset_info.h"

namespace imgpack::lmdb {

/// Reads the log once; memory is bounded. Goes on where an interrupted run stopped, comparing what that one left.
/// Throws refused if two records have the same key, damaged if what is there is not what belongs there, io.
void write_index(Environment& environment, const RecordLog& log, const DatasetInfo& info, unsigned key_digits);

}  // namespace imgpack::lmdb
