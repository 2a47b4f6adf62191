// ImageNet as it is downloaded: ILSVRC2012_img_train.tar (a tar of one tar a class), ILSVRC2012_img_val.tar,
// ILSVRC2012_img_test*.tar, or a folder that holds some of them, or one of class tars. Recognised by what is in the
// tars.
//
// Keys, labels and order are those of the same images unpacked into train/<wnid>/, val/ and test/. Inner tars are
// ranges of the outer file. Sorting needs the names of one class, or of all validation or test images, in memory.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "packer/sources/folder_filler.h"
#include "packer/sources/imagenet_devkit.h"
#include "packer/sources/imagenet_names.h"
#include "packer/sources/scans.h"
#include "packer/sources/tar_index.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

enum class Role : std::uint8_t { none, train, val, test };

Role role_of_member(std::string_view name) {
  if (!class_tar_wnid(name).empty()) return Role::train;
  if (is_numbered_image(name, "val")) return Role::val;
  if (is_numbered_image(name, "test")) return Role::test;
  return Role::none;
}

/// For tars that can't be listed, so that the scan says why.
Role role_of_name(std::string_view name) {
  if (!name.starts_with("ILSVRC")) return Role::none;
  if (name.find("_img_train") != std::string_view::npos) return Role::train;
  if (name.find("_img_val") != std::string_view::npos) return Role::val;
  if (name.find("_img_test") != std::string_view::npos) return Role::test;
  return Role::none;
}

Role role_of(const fs::path& path) {
  constexpr int kMembersLookedAt = 8;
  try {
    const File file = File::open(path, File::Mode::read);
    TarReader reader(file);
    TarMember member;
    for (int i = 0; i < kMembersLookedAt && reader.next(member); ++i) {
      const Role role = role_of_member(base_name(member.name));
      if (role != Role::none) return role;
    }
    return Role::none;
  } catch (const Error&) {
    return role_of_name(path.filename().native());
  }
}

/// What of ImageNet lies at a path.
struct TarSet {
  fs::path folder;  ///< where a devkit is looked for
  std::vector<fs::path> train;
  std::vector<fs::path> class_tars;  ///< of a train tar that somebody unpacked once
  std::vector<fs::path> val;
  std::vector<fs::path> test;
  std::vector<std::string> warnings;

  bool empty() const { return train.empty() && class_tars.empty() && val.empty() && test.empty(); }
  void add(const fs::path& path, Role role);
};

void TarSet::add(const fs::path& path, Role role) {
  switch (role) {
    case Role::train:
      train.push_back(path);
      break;
    case Role::val:
      val.push_back(path);
      break;
    case Role::test:
      test.push_back(path);
      break;
    case Role::none:
      break;
  }
}

TarSet find_in_folder(const fs::path& folder) {
  // Opening every tar of a folder of many thousand WebDataset shards would take long.
  constexpr std::size_t kMaxOpened = 16;
  TarSet set;
  set.folder = folder;
  std::vector<fs::path> tars;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().native();
    const bool wanted = name.ends_with(".tar") || role_of_name(name) != Role::none;
    if (wanted && is_file(entry.path())) tars.push_back(entry.path());
  }
  std::sort(tars.begin(), tars.end());
  for (const char* unpacked : {"train", "val", "test"}) {
    if (is_folder(folder / unpacked)) {
      set.warnings.push_back(fmt::format("the folder '{}' beside ImageNet's tars was ignored", unpacked));
    }
  }
  for (const fs::path& tar : tars) {
    const std::string name = tar.filename().native();
    if (!class_tar_wnid(name).empty()) {
      set.class_tars.push_back(tar);
    } else if (name.find("_img_train_t3") != std::string::npos) {
      set.warnings.push_back(
          fmt::format("'{}' was left out: its images are not of the classification task", printable(name)));
    } else if (tars.size() <= kMaxOpened || role_of_name(name) != Role::none) {
      set.add(tar, role_of(tar));
    }
  }
  return set;
}

TarSet find_tars(const fs::path& path) {
  if (is_folder(path)) return find_in_folder(path);
  TarSet set;
  if (!is_file(path)) return set;
  set.folder = path.parent_path();
  if (set.folder.empty()) set.folder = ".";
  set.add(path, role_of(path));
  return set;
}

[[noreturn]] void refuse(std::string message, const fs::path& path) {
  throw Error(ErrorCode::refused, std::move(message), {.file = path.native()});
}

void refuse_second(const std::vector<fs::path>& tars, std::string_view what) {
  if (tars.size() < 2) return;
  refuse(fmt::format("there are two tars of {} images, '{}' and '{}': name the one that is wanted, or move one away",
                     what, printable(tars[0].filename().native()), printable(tars[1].filename().native())),
         tars[0].parent_path());
}

/// A tar of images as a range of a file.
struct ImageTar {
  std::string wnid;
  fs::path path;
  std::uint32_t container = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Image {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string problem;
};

/// The order in which a walk through the unpacked folder would meet them: by folder, then by name.
bool unpacked_order(const Image& a, const Image& b) {
  const std::string_view folder_a = std::string_view(a.name).substr(0, a.name.size() - base_name(a.name).size());
  const std::string_view folder_b = std::string_view(b.name).substr(0, b.name.size() - base_name(b.name).size());
  const int order = folder_a.compare(folder_b);
  return order != 0 ? order < 0 : base_name(a.name) < base_name(b.name);
}

std::vector<Image> list_images(const File& file, const ImageTar& tar, bool keep_folders) {
  std::vector<Image> images;
  try {
    TarReader reader(file, tar.offset, tar.size);
    TarMember member;
    while (reader.next(member)) {
      if (member.kind == TarMember::Kind::directory) continue;
      Image image{keep_folders ? member.name : std::string(base_name(member.name)), member.offset, member.size,
                  member.problem()};
      images.push_back(std::move(image));
    }
  } catch (const Error& error) {
    if (tar.wnid.empty()) throw;
    throw Error(error.code(), fmt::format("{}.tar: {}", tar.wnid, error.message()), error.place());
  }
  std::sort(images.begin(), images.end(), unpacked_order);
  return images;
}

class Scan {
 public:
  Scan(TarSet set, SourceList& list) : set_(std::move(set)), list_(list) {}

  void run() {
    for (const std::string& warning : set_.warnings) list_.warn(warning);
    refuse_second(set_.train, "training");
    refuse_second(set_.val, "validation");
    refuse_second(set_.test, "test");
    find_classes();
    read_devkit_beside();
    add_train();
    if (!set_.val.empty()) add_val();
    if (!set_.test.empty()) add_flat(set_.test[0], "test", {});
  }

 private:
  void find_classes();
  void add_outer_members();
  void read_devkit_beside();
  void name_classes();
  void add_train();
  void add_val();
  std::vector<std::int64_t> val_labels() const;
  void add_flat(const fs::path& tar, const std::string& split, const std::vector<std::int64_t>& labels);
  void add_image(const Image& image, const std::string& prefix, const ImageTar& tar);
  std::uint32_t new_split(const std::string& name);
  std::optional<std::int64_t> label_of(std::string_view wnid) const;

  TarSet set_;
  SourceList& list_;
  std::vector<ImageTar> classes_;  // sorted by wnid
  std::optional<Devkit> devkit_;
  SourceEntry entry_;
};

std::uint32_t Scan::new_split(const std::string& name) {
  list_.info.splits.push_back({name, 0, 0});
  return static_cast<std::uint32_t>(list_.info.splits.size() - 1);
}

std::optional<std::int64_t> Scan::label_of(std::string_view wnid) const {
  const auto& classes = list_.info.classes;
  const auto at = std::lower_bound(classes.begin(), classes.end(), wnid,
                                   [](const ClassInfo& one, std::string_view wanted) { return one.name < wanted; });
  if (at == classes.end() || at->name != wnid) return std::nullopt;
  return at - classes.begin();
}

void Scan::add_outer_members() {
  const fs::path& path = set_.train[0];
  const std::uint32_t container = list_.add_file(path);
  const File file = File::open(path, File::Mode::read);
  TarReader reader(file);
  TarMember member;
  std::vector<std::string> strays;
  while (reader.next(member)) {
    if (member.kind == TarMember::Kind::directory) continue;
    const std::string wnid(class_tar_wnid(base_name(member.name)));
    if (wnid.empty()) {
      strays.push_back(member.name);
      continue;
    }
    const std::string problem = member.problem();
    if (!problem.empty()) refuse(fmt::format("{}.tar {}", wnid, problem), path);
    classes_.push_back({wnid, path, container, member.offset, member.size});
  }
  if (!strays.empty()) {
    list_.warn(fmt::format(
        "'{}' holds {} that are no class tars and were ignored: {}", printable(path.filename().native()),
        strays.size() == 1 ? "1 file" : fmt::format("{} files", strays.size()), name_a_few(strays, strays.size())));
  }
}

void Scan::find_classes() {
  if (!set_.train.empty()) {
    add_outer_members();
    if (!set_.class_tars.empty()) {
      list_.warn(fmt::format("{} class tars beside '{}' were ignored", set_.class_tars.size(),
                             printable(set_.train[0].filename().native())));
    }
  } else {
    for (const fs::path& path : set_.class_tars) {
      const File file = File::open(path, File::Mode::read);
      const std::string wnid(class_tar_wnid(path.filename().native()));
      classes_.push_back({wnid, path, list_.add_file(path), 0, file.size()});
    }
  }
  std::sort(classes_.begin(), classes_.end(), [](const ImageTar& a, const ImageTar& b) { return a.wnid < b.wnid; });
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (i > 0 && classes_[i].wnid == classes_[i - 1].wnid) {
      refuse(fmt::format("the class tar {}.tar stands in it twice", classes_[i].wnid), classes_[i].path);
    }
    list_.info.classes.push_back({classes_[i].wnid, ""});
  }
}

void Scan::read_devkit_beside() {
  if (set_.val.empty() && classes_.empty()) return;
  const std::optional<fs::path> path = find_devkit(set_.folder);
  if (!path) {
    if (set_.val.empty()) return;
    list_.warn(fmt::format("there is no {} beside '{}': its images have no labels", kDevkitName,
                           printable(set_.val[0].filename().native())));
    return;
  }
  try {
    devkit_ = read_devkit(*path);
  } catch (const Error& error) {
    // For training images alone the devkit is a nicety.
    if (error.code() != ErrorCode::unsupported || !set_.val.empty()) throw;
    list_.warn(fmt::format("classes have no words: {}", error.what()));
    return;
  }
  name_classes();
}

void Scan::name_classes() {
  auto& classes = list_.info.classes;
  if (classes.empty()) {
    for (const Synset& synset : devkit_->synsets) {
      if (synset.leaf) classes.push_back({synset.wnid, ""});
    }
    std::sort(classes.begin(), classes.end(), [](const ClassInfo& a, const ClassInfo& b) { return a.name < b.name; });
  }
  for (const Synset& synset : devkit_->synsets) {
    if (const auto label = label_of(synset.wnid)) classes[static_cast<std::size_t>(*label)].words = synset.words;
  }
}

void Scan::add_image(const Image& image, const std::string& prefix, const ImageTar& tar) {
  entry_.container = tar.container;
  entry_.key = prefix + image.name;
  entry_.offset = image.offset;
  entry_.size = image.size;
  entry_.problem = image.problem;
  list_.add(entry_);
}

void Scan::add_train() {
  if (classes_.empty()) return;
  entry_.split = new_split("train");
  std::vector<std::string> names;
  std::vector<std::uint64_t> counts;
  std::optional<File> file;
  for (const ImageTar& tar : classes_) {
    if (!file || file->path() != tar.path) file = File::open(tar.path, File::Mode::read);
    const std::vector<Image> images = list_images(*file, tar, true);
    entry_.label = static_cast<std::int64_t>(names.size());
    for (const Image& image : images) add_image(image, "train/" + tar.wnid + "/", tar);
    names.push_back(tar.wnid);
    counts.push_back(images.size());
  }
  warn_empty_classes(names, counts, list_);
}

std::vector<std::int64_t> Scan::val_labels() const {
  std::vector<std::int64_t> labels;
  labels.reserve(devkit_->validation.size());
  for (const std::uint32_t id : devkit_->validation) {
    const Synset* synset = devkit_->find(id);
    const auto label = synset == nullptr ? std::nullopt : label_of(synset->wnid);
    if (!label) {
      throw Error(ErrorCode::refused,
                  fmt::format("line {}: a validation image is of the class {}, which the training images lack",
                              labels.size() + 1, synset == nullptr ? "?" : synset->wnid),
                  {.file = devkit_->ground_truth_name});
    }
    labels.push_back(*label);
  }
  return labels;
}

void Scan::add_val() {
  add_flat(set_.val[0], "val", devkit_ ? val_labels() : std::vector<std::int64_t>());
}

/// `labels`: one for each numbered image, in the order of names; or none.
void Scan::add_flat(const fs::path& path, const std::string& split, const std::vector<std::int64_t>& labels) {
  const File file = File::open(path, File::Mode::read);
  const ImageTar tar{"", path, list_.add_file(path), 0, file.size()};
  std::vector<Image> images = list_images(file, tar, false);
  const auto numbered = [&split](const Image& image) { return is_numbered_image(image.name, split); };
  const auto count = static_cast<std::size_t>(std::count_if(images.begin(), images.end(), numbered));
  if (devkit_ && split == "val" && count != labels.size()) {
    refuse(fmt::format("holds {} validation images, but the devkit has labels for {} ({})", count, labels.size(),
                       devkit_->ground_truth_name),
           path);
  }
  entry_.split = new_split(split);
  std::size_t next = 0;
  for (const Image& image : images) {
    entry_.label = numbered(image) && !labels.empty() ? labels[next++] : kNoLabel;
    add_image(image, split + "/", tar);
  }
}

}  // namespace

bool is_imagenet_tars(const fs::path& path) {
  try {
    return !find_tars(path).empty();
  } catch (const std::exception&) {
    return false;
  }
}

void scan_imagenet_tars(const fs::path& path, const SourceOptions&, SourceList& list) {
  list.info.source_kind = "imagenet-tars";
  list.info.source_name = source_name_of(path);
  Scan(find_tars(path), list).run();
}

}  // namespace imgpack
