// From folders to list entries: what all scans of loose files share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mmap/file.h"
#include "packer/sources/folder_walk.h"
#include "packer/sources/source_list.h"

namespace imgpack {

/// What a folder of images looks like: a flat one, or one folder a class.
struct FolderShape {
  std::string path;                  ///< below the root; "" is the root itself
  const char* problem = nullptr;     ///< set if the folder can't be listed
  bool flat = true;                  ///< its files are the images
  std::vector<std::string> classes;  ///< names of its class folders, sorted bytewise; empty if flat

  // Not flat: names at the top that are in no class.
  std::uint64_t stray_files = 0;
  std::vector<std::string> first_stray_files;
};

/// A folder is flat if it has no folder inside, or files and no folder with a file inside.
FolderShape inspect_folder(const File& root, const std::string& path);

/// Adds entries whose keys are paths relative to one root folder.
class FolderFiller {
 public:
  FolderFiller(const File& root, std::uint32_t container, const SourceOptions& options, SourceList& list);

  /// The next entries go to this split.
  void set_split(std::uint32_t split) { entry_.split = split; }

  void add(std::string_view path, std::int64_t label, const char* problem = nullptr);
  /// All below `folder`. Returns how many entries that made.
  std::uint64_t add_tree(const std::string& folder, std::int64_t label);
  /// What a folder of this shape holds; class folders get the labels of `labels`, which has one for each of
  /// shape.classes. Adds to `counts` (indexed by label) what each class got. Warns of stray files.
  void add_shape(const FolderShape& shape, const std::vector<std::int64_t>& labels, std::vector<std::uint64_t>& counts);

 private:
  const File& root_;
  SourceList& list_;
  bool need_sizes_;
  SourceEntry entry_;
};

/// The sorted union of the class folders of several shapes.
std::vector<std::string> classes_of(const std::vector<FolderShape>& shapes);
/// Labels of `names` among the sorted `classes`. REQUIRES: each is one of them.
std::vector<std::int64_t> labels_of(const std::vector<std::string>& names, const std::vector<std::string>& classes);
/// Warns of classes whose count is 0.
void warn_empty_classes(const std::vector<std::string>& classes, const std::vector<std::uint64_t>& counts,
                        SourceList& list);
/// Throws refused if nothing was listed.
void require_files(const SourceList& list, const std::filesystem::path& root);

/// "a, b, c and 7 more", printable.
std::string name_a_few(const std::vector<std::string>& names, std::uint64_t count);
inline constexpr std::size_t kNamedInWarning = 5;

}  // namespace imgpack
