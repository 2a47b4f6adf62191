// ImageNet's devkit (ILSVRC2012_devkit_t12): what the validation images show, and what the classes are called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packer/sources/matlab_synsets.h"

namespace imgpack {

struct Devkit {
  std::vector<Synset> synsets;            ///< sorted by id
  std::vector<std::uint32_t> validation;  ///< line i: id of the i-th validation image, by name; each is in `synsets`
  std::string ground_truth_name;          ///< of the file that `validation` comes from, for messages

  /// Nullptr if there is none.
  const Synset* find(std::uint32_t id) const noexcept;
};

/// What a devkit looks like in `folder`: ILSVRC2012_devkit_t12/ or ILSVRC2012_devkit_t12.tar.gz, or `folder` itself if
/// it holds meta.mat and the ground truth.
std::optional<std::filesystem::path> find_devkit(const std::filesystem::path& folder);
inline constexpr std::string_view kDevkitName = "ILSVRC2012_devkit_t12.tar.gz";

/// Reads an unpacked devkit or its tar. Throws not_found if one of its two files is missing, damaged, unsupported (no
/// matio in this build), io.
Devkit read_devkit(const std::filesystem::path& path);

/// The text of ILSVRC2012_validation_ground_truth.txt: one ILSVRC2012_ID a line. `name` is what errors call the file.
/// Throws damaged, naming the line.
std::vector<std::uint32_t> parse_ground_truth(std::string_view text, const std::string& name);

}  // namespace imgpack
