#include "packer/sources/folder_walk.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <queue>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mmap/system_error.h"
#include "packer/sources/containers.h"

namespace imgpack {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

ItemKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return ItemKind::file;
  return S_ISDIR(mode) ? ItemKind::folder : ItemKind::special;
}

/// Follows symbolic links.
ItemKind kind_by_stat(int folder, const char* name) {
  struct stat status {};
  if (::fstatat(folder, name, &status, 0) == 0) return kind_of_mode(status.st_mode);
  switch (errno) {
    case ELOOP:
      return ItemKind::loop;
    case EACCES:
    case EPERM:
      return ItemKind::denied;
    default:
      return ItemKind::broken;
  }
}

/// The folders that a folder lies in, as it was reached.
struct Ancestors {
  FolderId id;
  std::shared_ptr<const Ancestors> above;
};

bool contains(const Ancestors* chain, FolderId id) {
  for (; chain != nullptr; chain = chain->above.get()) {
    if (chain->id == id) return true;
  }
  return false;
}

/// The chain for the folders above `path`, `root` included.
std::shared_ptr<const Ancestors> ancestors_of(const File& root, const std::string& path) {
  std::shared_ptr<const Ancestors> chain;
  const auto push = [&](const char* name, int flags) {
    struct stat status {};
    if (::fstatat(root.descriptor(), name, &status, flags) == 0) {
      chain = std::make_shared<const Ancestors>(Ancestors{{status.st_dev, status.st_ino}, chain});
    }
  };
  if (path.empty()) return chain;
  push("", AT_EMPTY_PATH);
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    push(path.substr(0, slash).c_str(), 0);
  }
  return chain;
}

struct Pending {
  std::string path;
  std::shared_ptr<const Ancestors> above;
};

struct LaterPath {
  bool operator()(const Pending& a, const Pending& b) const { return a.path > b.path; }
};

}  // namespace

const char* problem_of(ItemKind kind) noexcept {
  switch (kind) {
    case ItemKind::special:
      return "is not a regular file";
    case ItemKind::broken:
      return "broken symbolic link";
    case ItemKind::loop:
      return "loop of symbolic links";
    case ItemKind::denied:
      return "permission denied";
    default:
      return nullptr;
  }
}

std::string join_path(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  return path += name;
}

void FolderListing::add(int descriptor, const char* name, unsigned char type) {
  const std::string_view text(name);
  if (text == "." || text == "..") return;
  ItemKind kind;
  switch (type) {
    case DT_REG:
      kind = ItemKind::file;
      break;
    case DT_DIR:
      kind = ItemKind::folder;
      break;
    case DT_LNK:
    case DT_UNKNOWN:
      kind = kind_by_stat(descriptor, name);
      break;
    default:
      kind = ItemKind::special;
  }
  items_.push_back({names_.size(), static_cast<std::uint16_t>(text.size()), kind});
  names_ += text;
}

const char* FolderListing::load(const File& root, const std::string& path) {
  names_.clear();
  items_.clear();
  const char* name = path.empty() ? "." : path.c_str();
  const int descriptor = ::openat(root.descriptor(), name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    if (const char* problem = entry_problem(errno)) return problem;
    throw system_error(errno, "open", root.path() / path);
  }
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(descriptor));
  if (!directory) {
    const int error = errno;
    ::close(descriptor);
    throw system_error(error, "list", root.path() / path);
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw system_error(errno, "stat", root.path() / path);
  id_ = {status.st_dev, status.st_ino};
  for (;;) {
    errno = 0;
    const dirent* item = ::readdir(directory.get());
    if (item == nullptr) break;
    add(descriptor, item->d_name, item->d_type);
  }
  if (errno != 0) {
    if (const char* problem = entry_problem(errno)) return problem;
    throw system_error(errno, "list", root.path() / path);
  }
  const std::string_view names = names_;
  std::sort(items_.begin(), items_.end(), [names](const Item& a, const Item& b) {
    return names.substr(a.begin, a.length) < names.substr(b.begin, b.length);
  });
  return nullptr;
}

bool FolderListing::has(ItemKind kind) const noexcept {
  return std::any_of(items_.begin(), items_.end(), [kind](const Item& item) { return item.kind == kind; });
}

bool walk_folder(const File& root, const std::string& start, const std::function<bool(const WalkItem&)>& visit) {
  // A folder's path is smaller than those of all folders inside it: taking the smallest of those that are known visits
  // all in order of their paths, without a list of the whole tree. That is not the order of a depth-first walk: "a-b"
  // comes before "a/b".
  std::priority_queue<Pending, std::vector<Pending>, LaterPath> pending;
  pending.push({start, ancestors_of(root, start)});
  FolderListing listing;
  while (!pending.empty()) {
    const Pending folder = pending.top();
    pending.pop();
    const char* problem = listing.load(root, folder.path);
    if (problem == nullptr && contains(folder.above.get(), listing.id())) problem = problem_of(ItemKind::loop);
    if (problem != nullptr) {
      if (!visit({folder.path, problem})) return false;
      continue;
    }
    const auto here = std::make_shared<const Ancestors>(Ancestors{listing.id(), folder.above});
    for (std::size_t i = 0; i < listing.size(); ++i) {
      std::string path = join_path(folder.path, listing.name(i));
      if (listing.kind(i) == ItemKind::folder) {
        pending.push({std::move(path), here});
      } else if (!visit({path, problem_of(listing.kind(i))})) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace imgpack
