// Kaggle's "ImageNet Object Localization Challenge": ILSVRC/Data/CLS-LOC/{train/<wnid>/, val/, test/}, and beside
// ILSVRC/ the files LOC_synset_mapping.txt (wnid and words, one class a line) and LOC_val_solution.csv (the classes of
// val images).
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "formats/text.h"
#include "packer/sources/containers.h"
#include "packer/sources/delimited_reader.h"
#include "packer/sources/folder_filler.h"
#include "packer/sources/scans.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kSplits = {"train", "val", "test"};
/// Far beyond the 50,000 and 1,000 that there are; keeps memory bounded whatever the files hold.
constexpr std::size_t kMaxRows = 1u << 20;

bool has_split(const fs::path& folder) {
  return is_folder(folder / "train") || is_folder(folder / "val");
}

/// The CLS-LOC folder of the layout that `root` is or holds.
std::optional<fs::path> find_cls_loc(const fs::path& root) {
  for (const char* below : {"ILSVRC/Data/CLS-LOC", "Data/CLS-LOC", "CLS-LOC"}) {
    if (has_split(root / below)) return root / below;
  }
  std::error_code failed;
  const fs::path resolved = fs::canonical(root, failed);
  if (!failed && resolved.filename() == "CLS-LOC" && has_split(root)) return root;
  return std::nullopt;
}

/// The file `name` beside ILSVRC/, or in one of the folders between there and CLS-LOC.
std::optional<fs::path> find_beside(const fs::path& cls_loc, const char* name) {
  for (const char* above : {"../../..", "../..", "..", "."}) {
    if (is_file(cls_loc / above / name)) return (cls_loc / above / name);
  }
  return std::nullopt;
}

/// wnid -> words.
std::map<std::string, std::string, std::less<>> read_synset_mapping(const fs::path& path) {
  const File file = File::open(path, File::Mode::read);
  // No line has a tab: each row is one cell, "n01440764 tench, Tinca tinca".
  DelimitedReader reader(file, '\t');
  std::map<std::string, std::string, std::less<>> words;
  while (reader.next()) {
    const std::string_view line = reader.cells().front();
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos) {
      throw reader.error(ErrorCode::damaged, "not a class and its words");
    }
    if (words.size() == kMaxRows) throw reader.error(ErrorCode::damaged, fmt::format("more than {} lines", kMaxRows));
    words.emplace(line.substr(0, space), printable_utf8(line.substr(space + 1)));
  }
  return words;
}

/// Image name without extension -> wnid: the first of the row's predictions, whose classes are all the same.
std::map<std::string, std::string, std::less<>> read_val_solution(const fs::path& path) {
  const File file = File::open(path, File::Mode::read);
  DelimitedReader reader(file, ',');
  if (!reader.next() || reader.cells().size() < 2 || reader.cells()[0] != "ImageId" ||
      reader.cells()[1] != "PredictionString") {
    throw reader.error(ErrorCode::damaged, "the header line is not 'ImageId,PredictionString'");
  }
  std::map<std::string, std::string, std::less<>> wnids;
  while (reader.next()) {
    if (reader.cells().size() < 2) throw reader.error(ErrorCode::damaged, "fewer than 2 cells");
    const std::string_view prediction = reader.cells()[1];
    const std::string_view wnid = prediction.substr(0, prediction.find(' '));
    if (wnid.empty()) throw reader.error(ErrorCode::damaged, "no class in PredictionString");
    if (wnids.size() == kMaxRows) throw reader.error(ErrorCode::damaged, fmt::format("more than {} rows", kMaxRows));
    wnids.emplace(reader.cells()[0], wnid);
  }
  return wnids;
}

/// One listing of CLS-LOC.
class KaggleScan {
 public:
  KaggleScan(const fs::path& cls_loc, std::uint32_t container, const SourceOptions& options, SourceList& list)
      : cls_loc_(cls_loc), root_(open_folder(cls_loc)), filler_(root_, container, options, list), list_(list) {}

  void run() {
    for (const char* split : kSplits) {
      if (!is_folder(cls_loc_ / split)) continue;
      shapes_.push_back(inspect_folder(root_, split));
      list_.info.splits.push_back({.name = split, .begin = 0, .end = 0});
    }
    name_classes();
    std::vector<std::uint64_t> counts(classes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      filler_.set_split(static_cast<std::uint32_t>(i));
      if (shapes_[i].path == "val" && shapes_[i].flat && shapes_[i].problem == nullptr) {
        add_val(counts);
      } else {
        filler_.add_shape(shapes_[i], labels_of(shapes_[i].classes, classes_), counts);
      }
    }
    require_files(list_, cls_loc_);
    warn_empty_classes(classes_, counts, list_);
  }

 private:
  void name_classes() {
    std::map<std::string, std::string, std::less<>> words;
    if (const auto mapping = find_beside(cls_loc_, "LOC_synset_mapping.txt")) {
      words = read_synset_mapping(*mapping);
    } else {
      list_.warn("LOC_synset_mapping.txt was not found: classes have no words");
    }
    classes_ = classes_of(shapes_);
    if (classes_.empty()) {  // val or test alone
      for (const auto& [wnid, unused] : words) classes_.push_back(wnid);
    }
    for (const std::string& name : classes_) {
      const auto found = words.find(name);
      list_.info.classes.push_back(
          {.name = printable_utf8(name), .words = found == words.end() ? std::string() : found->second});
    }
  }

  void add_val(std::vector<std::uint64_t>& counts) {
    const std::optional<fs::path> solution = find_beside(cls_loc_, "LOC_val_solution.csv");
    if (!solution) list_.warn("LOC_val_solution.csv was not found: the val split has no labels");
    const auto wnids = solution ? read_val_solution(*solution) : std::map<std::string, std::string, std::less<>>();
    FolderListing listing;
    if (const char* problem = listing.load(root_, "val")) return filler_.add("val", kNoLabel, problem);
    for (std::size_t i = 0; i < listing.size(); ++i) {
      if (listing.kind(i) == ItemKind::folder) continue;
      const std::string_view name = listing.name(i);
      std::int64_t label = kNoLabel;
      const char* problem = problem_of(listing.kind(i));
      if (solution && problem == nullptr) problem = find_label(wnids, name.substr(0, name.rfind('.')), label);
      if (label != kNoLabel) ++counts[static_cast<std::size_t>(label)];
      filler_.add(join_path("val", name), label, problem);
    }
  }

  /// Sets `label`, or returns why there is none.
  const char* find_label(const std::map<std::string, std::string, std::less<>>& wnids, std::string_view image,
                         std::int64_t& label) const {
    const auto wnid = wnids.find(image);
    if (wnid == wnids.end()) return "LOC_val_solution.csv has no row for it";
    const auto found = std::lower_bound(classes_.begin(), classes_.end(), wnid->second);
    if (found == classes_.end() || *found != wnid->second)
      return "its class in LOC_val_solution.csv is not one of train's";
    label = found - classes_.begin();
    return nullptr;
  }

  fs::path cls_loc_;
  File root_;
  FolderFiller filler_;
  SourceList& list_;
  std::vector<FolderShape> shapes_;
  std::vector<std::string> classes_;
};

}  // namespace

bool is_kaggle_layout(const fs::path& root) {
  return find_cls_loc(root).has_value();
}

void scan_kaggle(const fs::path& root, const SourceOptions& options, SourceList& list) {
  const std::optional<fs::path> cls_loc = find_cls_loc(root);
  if (!cls_loc) throw Error(ErrorCode::refused, "no ILSVRC/Data/CLS-LOC in there", in_file(root));
  const std::uint32_t container = list.add_folder(*cls_loc);
  list.info.source_kind = "kaggle";
  list.info.source_name = source_name_of(root);
  KaggleScan(*cls_loc, container, options, list).run();
}

}  // namespace imgpack
