// Small records of every codec and decode path, for tests and fuzzers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "imgpack/record.h"

namespace imgpack::testing {

struct RecordSample {
  std::string name;
  RecordMeta meta;  ///< without label and checksum
  std::vector<std::byte> payload;
  std::vector<std::byte> segments;

  RecordBytes bytes() const { return {payload, segments}; }
};

std::vector<RecordSample> record_samples();

}  // namespace imgpack::testing
