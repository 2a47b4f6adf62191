#include "packer/sources/folder_filler.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "imgpack/error.h"
#include "mmap/system_error.h"
#include "packer/sources/containers.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

/// Whether there is a file in `path` or below.
bool holds_file(const File& root, const std::string& path) {
  return !walk_folder(root, path, [](const WalkItem& item) { return item.problem != nullptr; });
}

}  // namespace

FolderShape inspect_folder(const File& root, const std::string& path) {
  FolderShape shape;
  shape.path = path;
  FolderListing listing;
  shape.problem = listing.load(root, path);
  if (shape.problem != nullptr || !listing.has(ItemKind::folder)) return shape;
  const bool has_files = listing.has(ItemKind::file);
  shape.flat = has_files;
  for (std::size_t i = 0; i < listing.size() && shape.flat; ++i) {
    if (listing.kind(i) == ItemKind::folder) shape.flat = !holds_file(root, join_path(path, listing.name(i)));
  }
  if (shape.flat) return shape;
  for (std::size_t i = 0; i < listing.size(); ++i) {
    if (listing.kind(i) == ItemKind::folder) {
      shape.classes.emplace_back(listing.name(i));
    } else if (listing.kind(i) == ItemKind::file) {
      if (++shape.stray_files <= kNamedInWarning) shape.first_stray_files.emplace_back(listing.name(i));
    }
  }
  return shape;
}

FolderFiller::FolderFiller(const File& root, std::uint32_t container, const SourceOptions& options, SourceList& list)
    : root_(root), list_(list), need_sizes_(options.need_sizes) {
  entry_.container = container;
}

void FolderFiller::add(std::string_view path, std::int64_t label, const char* problem) {
  entry_.key = path;
  entry_.path = path;
  entry_.label = label;
  entry_.size = 0;
  if (problem == nullptr && need_sizes_) {
    struct stat status {};
    if (::fstatat(root_.descriptor(), entry_.path.c_str(), &status, 0) == 0) {
      entry_.size = static_cast<std::uint64_t>(status.st_size);
    } else {
      const int error = errno;
      problem = entry_problem(error);
      if (problem == nullptr) throw system_error(error, "stat", root_.path() / entry_.path);
    }
  }
  entry_.problem = problem == nullptr ? "" : problem;
  list_.add(entry_);
}

std::uint64_t FolderFiller::add_tree(const std::string& folder, std::int64_t label) {
  std::uint64_t added = 0;
  walk_folder(root_, folder, [&](const WalkItem& item) {
    add(item.path, label, item.problem);
    ++added;
    return true;
  });
  return added;
}

void FolderFiller::add_shape(const FolderShape& shape, const std::vector<std::int64_t>& labels,
                             std::vector<std::uint64_t>& counts) {
  if (shape.problem != nullptr) return add(shape.path, kNoLabel, shape.problem);
  FolderListing listing;
  if (const char* problem = listing.load(root_, shape.path)) return add(shape.path, kNoLabel, problem);
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const ItemKind kind = listing.kind(i);
    // A broken link beside class folders may have been a class: that must not pass in silence.
    const bool wanted = kind != ItemKind::folder && (shape.flat || kind != ItemKind::file);
    if (wanted) add(join_path(shape.path, listing.name(i)), kNoLabel, problem_of(kind));
  }
  for (std::size_t i = 0; i < listing.size() && shape.flat; ++i) {
    // No files in there, but perhaps folders that can't be listed.
    if (listing.kind(i) == ItemKind::folder) add_tree(join_path(shape.path, listing.name(i)), kNoLabel);
  }
  for (std::size_t i = 0; i < shape.classes.size(); ++i) {
    counts[static_cast<std::size_t>(labels[i])] += add_tree(join_path(shape.path, shape.classes[i]), labels[i]);
  }
  if (shape.stray_files != 0) {
    list_.warn(fmt::format("{} at the top of '{}' {} in no class and {} ignored: {}",
                           shape.stray_files == 1 ? "1 file" : fmt::format("{} files", shape.stray_files),
                           printable((root_.path() / shape.path).native()), shape.stray_files == 1 ? "is" : "are",
                           shape.stray_files == 1 ? "is" : "are",
                           name_a_few(shape.first_stray_files, shape.stray_files)));
  }
}

std::vector<std::string> classes_of(const std::vector<FolderShape>& shapes) {
  std::set<std::string> names;
  for (const FolderShape& shape : shapes) names.insert(shape.classes.begin(), shape.classes.end());
  return {names.begin(), names.end()};
}

std::vector<std::int64_t> labels_of(const std::vector<std::string>& names, const std::vector<std::string>& classes) {
  std::vector<std::int64_t> labels;
  for (const std::string& name : names) {
    labels.push_back(std::lower_bound(classes.begin(), classes.end(), name) - classes.begin());
  }
  return labels;
}

void warn_empty_classes(const std::vector<std::string>& classes, const std::vector<std::uint64_t>& counts,
                        SourceList& list) {
  std::vector<std::string> empty;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (counts[i] == 0) empty.push_back(classes[i]);
  }
  if (empty.size() == 1) list.warn(fmt::format("the class '{}' has no files", printable(empty.front())));
  if (empty.size() > 1) {
    list.warn(fmt::format("{} classes have no files: {}", empty.size(), name_a_few(empty, empty.size())));
  }
}

void require_files(const SourceList& list, const std::filesystem::path& root) {
  if (list.size() == 0) {
    throw Error(ErrorCode::refused, fmt::format("no files found in '{}'", printable(root.native())), in_file(root));
  }
}

std::string name_a_few(const std::vector<std::string>& names, std::uint64_t count) {
  std::string out;
  const std::size_t named = std::min(names.size(), kNamedInWarning);
  for (std::size_t i = 0; i < named; ++i) out += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(names[i]));
  if (count > named) out += fmt::format(" and {} more", count - named);
  return out;
}

}  // namespace imgpack
