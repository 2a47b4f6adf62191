// Listing folders and walking trees of them, always in the same order and through symbolic links.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "mmap/file.h"

namespace imgpack {

/// Tells a folder from all others, however it is reached.
struct FolderId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FolderId&) const = default;
};

/// What a name in a folder stands for, after following symbolic links.
enum class ItemKind : std::uint8_t {
  file,
  folder,
  special,  ///< FIFO, device, socket
  broken,   ///< a symbolic link to nothing
  loop,     ///< a symbolic link that leads to itself
  denied,   ///< a symbolic link through a folder that may not be searched
};

/// Why an item that is neither file nor folder can't be packed.
const char* problem_of(ItemKind kind) noexcept;

/// The names in one folder, sorted bytewise. Memory: about 16 bytes and the name, each.
class FolderListing {
 public:
  /// Lists the folder `path` below `root` ("" is `root` itself). Returns nullptr, or why the folder can't be listed.
  /// Throws io.
  const char* load(const File& root, const std::string& path);

  std::size_t size() const noexcept { return items_.size(); }
  std::string_view name(std::size_t i) const noexcept {
    return std::string_view(names_).substr(items_[i].begin, items_[i].length);
  }
  ItemKind kind(std::size_t i) const noexcept { return items_[i].kind; }
  FolderId id() const noexcept { return id_; }
  bool has(ItemKind kind) const noexcept;

 private:
  struct Item {
    std::uint64_t begin;   ///< in names_
    std::uint16_t length;  ///< NAME_MAX is 255
    ItemKind kind;
  };
  void add(int descriptor, const char* name, unsigned char type);

  FolderId id_;
  std::string names_;
  std::vector<Item> items_;
};

/// One thing found by a walk: a file, or something that can't be packed.
struct WalkItem {
  std::string_view path;          ///< relative to the walk's root, with '/'
  const char* problem = nullptr;  ///< nullptr for a file
};

/// Visits all files in the folder `start` below `root` and in the folders inside it, in the order of torchvision's
/// make_dataset: folders sorted by their whole path, the files of each sorted by name. Symbolic links are followed; one
/// that leads back to a folder it lies in is a problem, as is a folder that can't be listed. Ends early when `visit`
/// returns false, and returns whether it never did.
bool walk_folder(const File& root, const std::string& start, const std::function<bool(const WalkItem&)>& visit);

/// "folder/name", or "name" if `folder` is empty.
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace imgpack
