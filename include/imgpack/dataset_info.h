// What a packed dataset says about itself as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "imgpack/record.h"

namespace imgpack {

struct ClassInfo {
  std::string name;   ///< folder name or wnid; index in DatasetInfo::classes = label, as torchvision's class_to_idx
  std::string words;  ///< human-readable, may be empty
  bool operator==(const ClassInfo&) const = default;
};

/// A named range of consecutive records, [begin, end). One name may have several ranges, after a merge for instance.
struct Split {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const Split&) const = default;
};

/// An entry of the source that did not become a record.
struct LeftOut {
  std::string key;  ///< as it would have been; bytes that are not UTF-8 appear as \xNN
  std::string reason;
  bool ignored = false;  ///< it is no image and not named like one: nothing was lost
  bool operator==(const LeftOut&) const = default;
};

struct DatasetInfo {
  std::vector<ClassInfo> classes;  ///< empty where labels have no names
  std::vector<Split> splits;       ///< empty where the source has none; a writer is given names and fills the ranges
  std::vector<FieldSpec> fields;
  std::map<std::string, std::string> transform;  ///< how payloads were made: {"encode": "keep"}
  std::string source_kind;                       ///< "class-folders", "splits", "imagenet-tars", ...
  std::string source_name;                       ///< last component of the source's path
  std::string tool_version;
  std::map<std::string, std::string> metadata;  ///< free-form

  std::uint64_t records = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t pixels = 0;  ///< sum of width x height
  /// Over key, label, split and checksum of every record in order. Equal for equal content in whatever format; of
  /// several files read as one, a chain over theirs. 0 if unknown.
  std::uint64_t content_digest = 0;

  /// How many entries of the source were left out, how many of these were ignored, and the first kMaxLeftOut of them.
  std::uint64_t left_out_count = 0;
  std::uint64_t ignored_count = 0;
  std::vector<LeftOut> left_out;
  static constexpr std::size_t kMaxLeftOut = 1000;

  bool operator==(const DatasetInfo&) const = default;
};

}  // namespace imgpack
