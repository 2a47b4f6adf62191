// Writing files below one folder, and never outside it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mmap/file.h"

namespace imgpack::tools {

/// Every folder on the way to a file is opened by its parent's descriptor, without following links, and is made if it
/// is missing. So neither a key nor a link that lies in the folder, also one put there meanwhile, leads out of it. The
/// folder itself may be named through links. Not thread-safe.
class ExtractionFolder {
 public:
  /// Opens the folder, making it and its parents if needed. Throws io.
  ExtractionFolder(std::filesystem::path path, bool overwrite);

  /// Writes one file under `key`. Returns an empty string, or why this key cannot be a file here: no safe name
  /// (key_path.h), a link or a file where a folder is needed, a folder where the file should be. Throws already_exists
  /// if the file is there and may not be replaced, io if the machine fails; then no part of the file remains.
  std::string write(std::string_view key, std::span<const std::byte> content);

 private:
  struct OpenFolder {
    std::string name;
    File folder;
  };

  const File& innermost() const { return open_.empty() ? root_ : open_.back().folder; }
  std::filesystem::path path_of(std::string_view key) const;
  std::string enter(const std::vector<std::string>& folders, std::string_view key);
  std::string make_room(const std::string& name, std::string_view key);

  std::filesystem::path path_;
  bool overwrite_;
  File root_;
  std::vector<OpenFolder> open_;  ///< the way to the last file: the next one mostly lies beside it
};

}  // namespace imgpack::tools
