// The class table of an ImageNet devkit: the struct array `synsets` of meta.mat, a MATLAB 5 file, read through matio.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mmap/file.h"

namespace imgpack {

struct Synset {
  std::uint32_t id = 0;  ///< ILSVRC2012_ID, what the validation ground truth speaks of; at least 1
  std::string wnid;      ///< "n01440764"
  std::string words;     ///< "tench, Tinca tinca", UTF-8
  bool leaf = false;     ///< a class that images are labelled with, not a group of classes
  bool operator==(const Synset&) const = default;
};

/// Sorted by id; ids and wnids are unique. `name` is what errors call the file.
///
/// Throws damaged if the file is no MATLAB 5 file, lacks the array or a field of it, or holds values that make no
/// sense; unsupported if it is a MATLAB 7.3 file or imgpack was built without matio; io.
std::vector<Synset> read_synsets(const File& file, const std::string& name);

inline constexpr std::uint64_t kMaxMetaBytes = 64u << 20;

}  // namespace imgpack
