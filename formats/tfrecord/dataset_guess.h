// What the records of a TFRecord say together about the dataset: classes and splits, gathered one record at a time.
//
// Memory is bounded, whatever the file says: what goes beyond the limits is given up as a whole, never cut.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "imgpack/dataset_info.h"

namespace imgpack {

/// Class names from (label, text) pairs. Two names for one label, or names that are not UTF-8, are too long or too
/// many, leave the classes without names.
class ClassGuess {
 public:
  static constexpr std::size_t kMaxLabels = 1u << 20;
  static constexpr std::size_t kMaxNameBytes = 4096;
  static constexpr std::size_t kMaxTextBytes = 64u << 20;

  /// `known` come from the dataset's description, if there is one.
  explicit ClassGuess(std::vector<ClassInfo> known = {});
  /// `synset`, where present, is the name and `text` the words, as in TensorFlow's ImageNet files; else `text` is the
  /// name.
  void add(std::int64_t label, std::string_view text, std::string_view synset);
  /// Covers every label that was added; labels without a name get their number as name. Empty if no label has a name.
  std::vector<ClassInfo> take();

 private:
  void give_up();

  std::vector<ClassInfo> classes_;
  std::size_t text_bytes_ = 0;
  std::size_t labels_ = 0;  ///< the largest label and one
  bool given_up_ = false;
};

/// Splits from the split names of consecutive records.
class SplitGuess {
 public:
  static constexpr std::size_t kMaxRanges = 4000;

  /// `known` gives the order of the names.
  explicit SplitGuess(const std::vector<Split>& known = {});
  /// To be called for every record in turn. Returns the number of the split's name, 0 for records without one.
  std::uint32_t add(std::uint64_t record, std::optional<std::string_view> name);
  /// Runs of records of one name. Nothing if there were too many, or if not every record has one.
  std::vector<Split> take();

 private:
  std::uint32_t number_of(std::string_view name);

  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<Split> ranges_;
  bool given_up_ = false;
};

}  // namespace imgpack
