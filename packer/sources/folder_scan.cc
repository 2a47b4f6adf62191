// Which of three layouts a folder has, and its listing:
//
// - split folders: all subfolders with images have the name of a split, in any case: train, training, val, valid,
//   validation, dev, test, testing. Each becomes a split under the name that it has on disk; train stands first, then
//   val, then test. A split is a folder of class folders or flat (no labels); classes are the union over the splits.
// - class folders: the sorted names of the subfolders are the classes, as torchvision's ImageFolder has them.
// - a flat folder: its files, without labels.
//
// Whatever is a file is listed, also hidden ones and those without an image's extension: content decides when it is
// packed.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "codec/image_name.h"
#include "formats/text.h"
#include "packer/sources/containers.h"
#include "packer/sources/folder_filler.h"
#include "packer/sources/folder_walk.h"
#include "packer/sources/scans.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

/// 0 for train, 1 for val, 2 for test, -1 for what is no split's name.
int split_rank(std::string_view folder) {
  struct Name {
    std::string_view name;
    int rank;
  };
  constexpr std::array<Name, 8> kNames = {{{"train", 0},
                                           {"training", 0},
                                           {"val", 1},
                                           {"valid", 1},
                                           {"validation", 1},
                                           {"dev", 1},
                                           {"test", 2},
                                           {"testing", 2}}};
  const std::string lower = ascii_lower(folder);
  for (const Name& one : kNames) {
    if (one.name == lower) return one.rank;
  }
  return -1;
}

/// By name: this only tells a folder of images from one of annotations.
bool holds_images(const File& root, const std::string& folder) {
  return !walk_folder(root, folder, [](const WalkItem& item) { return !has_image_name(item.path); });
}

/// Names of the split folders in their order; empty if `root` has another layout.
std::vector<std::string> find_splits(const File& root, SourceList& list) {
  FolderListing top;
  if (top.load(root, "") != nullptr) return {};
  std::vector<std::string> splits;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < top.size(); ++i) {
    if (top.kind(i) != ItemKind::folder) continue;
    (split_rank(top.name(i)) >= 0 ? splits : others).emplace_back(top.name(i));
  }
  if (splits.empty()) return {};
  for (const std::string& other : others) {
    if (!holds_images(root, other)) continue;
    list.warn(
        fmt::format("'{}' is the name of a split, but '{}' beside it has images too: every folder is taken as a class",
                    printable(splits.front()), printable(other)));
    return {};
  }
  if (!others.empty()) {
    list.warn(fmt::format("folders that are no splits and have no images are ignored: {}",
                          name_a_few(others, others.size())));
  }
  std::stable_sort(splits.begin(), splits.end(),
                   [](const std::string& a, const std::string& b) { return split_rank(a) < split_rank(b); });
  return splits;
}

/// Files beside split folders.
void warn_files_beside(const File& root, SourceList& list) {
  FolderListing top;
  if (top.load(root, "") != nullptr) return;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < top.size(); ++i) {
    if (top.kind(i) != ItemKind::folder) files.emplace_back(top.name(i));
  }
  if (files.empty()) return;
  list.warn(fmt::format("files beside the split folders are ignored: {}", name_a_few(files, files.size())));
}

}  // namespace

void scan_folder(const std::filesystem::path& root_path, const SourceOptions& options, SourceList& list) {
  const std::uint32_t container = list.add_folder(root_path);
  const File root = open_folder(root_path);
  list.info.source_name = source_name_of(root_path);

  const std::vector<std::string> splits = find_splits(root, list);
  std::vector<FolderShape> shapes;
  for (const std::string& split : splits) {
    shapes.push_back(inspect_folder(root, split));
    list.info.splits.push_back({.name = printable_utf8(split), .begin = 0, .end = 0});
  }
  if (splits.empty()) shapes.push_back(inspect_folder(root, ""));
  list.info.source_kind = !splits.empty() ? "splits" : shapes.front().flat ? "flat-folder" : "class-folders";

  const std::vector<std::string> classes = classes_of(shapes);
  for (const std::string& name : classes) list.info.classes.push_back({.name = printable_utf8(name), .words = {}});
  std::vector<std::uint64_t> counts(classes.size());
  FolderFiller filler(root, container, options, list);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    filler.set_split(static_cast<std::uint32_t>(i));
    filler.add_shape(shapes[i], labels_of(shapes[i].classes, classes), counts);
  }
  if (!splits.empty()) warn_files_beside(root, list);
  require_files(list, root_path);
  warn_empty_classes(classes, counts, list);
}

}  // namespace imgpack
