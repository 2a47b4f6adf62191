// WebDataset shards: tars in which the files of one sample stand one after the other and share their name up to the
// first dot of its last component. The image of a sample becomes a record; its label comes from SAMPLE.cls, or from
// "label" or "cls" in SAMPLE.json. Other files of a sample are ignored, with one warning that names their extensions.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codec/image_name.h"
#include "imgpack/error.h"
#include "packer/sources/scans.h"
#include "packer/sources/shard_files.h"
#include "packer/sources/tar_index.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLabelBytes = 256;
constexpr std::uint64_t kMaxJsonBytes = 4u << 20;

bool is_image_extension(std::string_view extension) {
  constexpr std::array<std::string_view, 8> kImages = {"jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff"};
  return std::find(kImages.begin(), kImages.end(), extension) != kImages.end();
}

/// "dir/0001.seg.png" is the file "seg.png" of the sample "dir/0001".
struct SampleFile {
  std::string_view sample;
  std::string extension;  ///< in lower case, without the dot
};

/// Nothing for hidden files and those without an extension, which belong to no sample.
std::optional<SampleFile> parse_name(std::string_view name) {
  const std::size_t base = name.rfind('/') + 1;
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return SampleFile{name.substr(0, dot), ascii_lower(name.substr(dot + 1))};
}

/// A label, or why there is none.
struct Label {
  std::optional<std::int64_t> value;
  std::string problem;
};

Label parse_cls(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  std::string_view digits = begin == std::string_view::npos ? std::string_view() : text.substr(begin);
  digits = digits.substr(0, digits.find_last_not_of(kSpace) + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < kNoLabel) {
    return {std::nullopt, fmt::format("its .cls is '{}', which is not a label", printable(digits.substr(0, 40)))};
  }
  return {value, {}};
}

Label parse_json(std::string_view text) {
  const auto document = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (document.is_discarded()) return {std::nullopt, "its .json is not JSON"};
  if (!document.is_object()) return {};
  for (const char* name : {"label", "cls"}) {
    const auto found = document.find(name);
    if (found == document.end()) continue;
    const bool fits =
        found->is_number_integer() &&
        (!found->is_number_unsigned() || found->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!fits || found->get<std::int64_t>() < kNoLabel) {
      return {std::nullopt, fmt::format("the \"{}\" in its .json is not a label", name)};
    }
    return {found->get<std::int64_t>(), {}};
  }
  return {};
}

/// Files that no sample needs, counted by extension.
class Ignored {
 public:
  void count(const std::string& extension, std::uint64_t files = 1) {
    constexpr std::size_t kMaxNamed = 20;
    if (counts_.size() >= kMaxNamed && !counts_.contains(extension)) {
      others_ += files;
    } else {
      counts_[extension] += files;
    }
  }
  void warn(SourceList& list) const {
    if (counts_.empty()) return;
    std::string text;
    for (const auto& [extension, count] : counts_) {
      const std::string name = extension.empty() ? "hidden or without extension" : "." + printable(extension);
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, count);
    }
    if (others_ != 0) text += fmt::format(" and others ({})", others_);
    list.warn("files that are no images or labels were ignored: " + text);
  }

 private:
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t others_ = 0;
};

/// Files of one sample that may be its image.
struct Candidate {
  std::uint64_t count = 0;
  TarMember first;
  std::string second;  ///< name of the second one
  void add(const TarMember& member);
};

/// What is known of the sample whose files are just being read.
struct Sample {
  std::string name;
  std::string first_member;
  Candidate images;      ///< "0001.jpg"
  Candidate odd_images;  ///< "0001.v2.jpg": taken if there is no other
  std::optional<Label> cls;
  std::optional<Label> json;
};

/// Collects the files of one sample after the other. Memory does not depend on how many files a sample has.
class SampleCollector {
 public:
  SampleCollector(SourceList& list, Ignored& ignored) : list_(list), ignored_(ignored) {}

  void begin_shard(const File& file, const std::string& name, std::uint32_t container, std::uint32_t split) {
    file_ = &file;
    shard_ = name;
    container_ = container;
    split_ = split;
  }
  void add(const TarMember& member);
  /// Ends the sample, if there is one.
  void flush();

 private:
  template <typename Parse>
  Label read_label(const TarMember& member, std::uint64_t limit, Parse parse) const;
  void describe_image(const Sample& sample, SourceEntry& entry) const;

  SourceList& list_;
  Ignored& ignored_;
  const File* file_ = nullptr;
  std::string shard_;
  std::uint32_t container_ = 0;
  std::uint32_t split_ = 0;
  std::optional<Sample> sample_;
  SourceEntry entry_;
};

void Candidate::add(const TarMember& member) {
  ++count;
  if (count == 1) first = member;
  if (count == 2) second = member.name;
}

template <typename Parse>
Label SampleCollector::read_label(const TarMember& member, std::uint64_t limit, Parse parse) const {
  const std::string problem = member.problem();
  if (!problem.empty()) return {std::nullopt, fmt::format("its label '{}' {}", printable(member.name), problem)};
  if (member.size > limit) return {std::nullopt, fmt::format("its label '{}' is too long", printable(member.name))};
  std::string text(member.size, '\0');
  file_->read_at(member.offset, std::as_writable_bytes(std::span(text)));
  return parse(text);
}

void SampleCollector::add(const TarMember& member) {
  if (member.kind == TarMember::Kind::directory) return;
  const std::optional<SampleFile> file = parse_name(member.name);
  if (!file) return ignored_.count("");
  if (!sample_ || sample_->name != file->sample) {
    flush();
    sample_.emplace();
    sample_->name = file->sample;
    sample_->first_member = member.name;
  }
  const std::string_view extension = file->extension;
  if (is_image_extension(extension)) {
    sample_->images.add(member);
  } else if (is_image_extension(extension.substr(extension.rfind('.') + 1))) {
    sample_->odd_images.add(member);
  } else if (extension == "cls") {
    sample_->cls = read_label(member, kMaxLabelBytes, parse_cls);
  } else if (extension == "json") {
    sample_->json = read_label(member, kMaxJsonBytes, parse_json);
  } else {
    ignored_.count(file->extension);
  }
}

void SampleCollector::describe_image(const Sample& sample, SourceEntry& entry) const {
  const Candidate& images = sample.images.count != 0 ? sample.images : sample.odd_images;
  entry.key = fmt::format("{}/{}", shard_, images.count == 0 ? sample.first_member : images.first.name);
  if (images.count == 0) {
    entry.problem = "the sample has no image";
    return;
  }
  entry.offset = images.first.offset;
  entry.size = images.first.size;
  entry.problem = images.first.problem();
  if (images.count > 1) {
    entry.problem = fmt::format("the sample has {} images ('{}', '{}'{})", images.count, printable(images.first.name),
                                printable(images.second), images.count > 2 ? ", ..." : "");
  }
}

void SampleCollector::flush() {
  if (!sample_) return;
  const Sample& sample = *sample_;
  entry_.clear();
  entry_.container = container_;
  entry_.split = split_;
  describe_image(sample, entry_);
  const std::optional<Label>& label = sample.cls ? sample.cls : sample.json;
  if (label && label->value) entry_.label = *label->value;
  if (label && entry_.problem.empty()) entry_.problem = label->problem;
  if (sample.images.count != 0 && sample.odd_images.count != 0) {
    ignored_.count(parse_name(sample.odd_images.first.name)->extension, sample.odd_images.count);
  }
  list_.add(entry_);
  sample_.reset();
}

/// Numbers of the shards' splits, if all have one; fills info.splits.
std::vector<std::uint32_t> assign_splits(const std::vector<TarShard>& shards, SourceList& list) {
  std::vector<std::string> names;
  for (const TarShard& shard : shards) names.push_back(split_of_shard(shard.name));
  const auto without = std::count(names.begin(), names.end(), "");
  std::vector<std::uint32_t> numbers(shards.size(), 0);
  if (without != 0) {
    if (static_cast<std::size_t>(without) != names.size()) {
      list.warn(fmt::format("there are no splits: {} of {} shards have no split's name", without, names.size()));
    }
    return numbers;
  }
  for (const char* split : {"train", "val", "validation", "test"}) {
    if (std::find(names.begin(), names.end(), split) == names.end()) continue;
    const auto number = static_cast<std::uint32_t>(list.info.splits.size());
    list.info.splits.push_back({split, 0, 0});
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == split) numbers[i] = number;
    }
  }
  return numbers;
}

/// Whether a folder's own files are tars and no images.
bool holds_tars_only(const fs::path& folder) {
  bool tars = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (has_image_name(entry.path().native())) return false;
    const std::string name = entry.path().filename().native();
    tars = tars || ((ascii_lower(name).ends_with(".tar") || is_compressed_tar_name(name)) && entry.is_regular_file());
  }
  return tars;
}

/// Loose images in any folder make it a folder of images, in which a tar is a stray.
bool is_shard_folder(const fs::path& folder) {
  bool any = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    if (!split_of_shard(entry.path().filename().native() + "/").empty() && holds_tars_only(entry.path())) any = true;
    for (const fs::directory_entry& inner : fs::directory_iterator(entry.path())) {
      if (has_image_name(inner.path().native()) || inner.is_directory()) return false;
    }
  }
  return any || holds_tars_only(folder);
}

bool holds_member(const fs::path& path) {
  const File file = File::open(path, File::Mode::read);
  TarReader reader(file);
  TarMember member;
  return reader.next(member);
}

}  // namespace

bool is_webdataset(const fs::path& path) {
  try {
    if (is_shard_pattern(path)) return true;
    if (fs::is_directory(path)) return is_shard_folder(path);
    if (!fs::is_regular_file(path)) return false;
    const std::string name = path.filename().native();
    // By name too, so that the scan says what is wrong with a damaged or compressed one.
    return ascii_lower(name).ends_with(".tar") || is_compressed_tar_name(name) || holds_member(path);
  } catch (const std::exception&) {
    return false;
  }
}

void scan_webdataset(const fs::path& path, const SourceOptions&, SourceList& list) {
  list.info.source_kind = "webdataset";
  list.info.source_name = source_name_of(path);
  const TarShardSet set = find_tar_shards(path);
  for (const std::string& warning : set.warnings) list.warn(warning);
  const std::vector<std::uint32_t> splits = assign_splits(set.shards, list);
  Ignored ignored;
  SampleCollector samples(list, ignored);
  for (std::size_t i = 0; i < set.shards.size(); ++i) {
    const TarShard& shard = set.shards[i];
    const File file = File::open(shard.path, File::Mode::read);
    samples.begin_shard(file, shard.name, list.add_file(shard.path), splits[i]);
    TarReader reader(file);
    TarMember member;
    while (reader.next(member)) samples.add(member);
    samples.flush();
  }
  ignored.warn(list);
}

}  // namespace imgpack
