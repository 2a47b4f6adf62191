#include "packer/sources/shard_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <glob.h>

#include "imgpack/error.h"
#include "packer/sources/folder_filler.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxShards = 1u << 20;
constexpr std::array<std::string_view, 4> kSplitNames = {"train", "val", "validation", "test"};
constexpr std::string_view kTar = ".tar";

[[noreturn]] void bad_pattern(const std::string& pattern, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("the pattern {}", why), {.file = pattern});
}

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool is_tar_name(std::string_view name) {
  return ascii_lower(name).ends_with(kTar);
}

std::string without_tar(std::string name) {
  if (is_tar_name(name)) name.resize(name.size() - kTar.size());
  return name;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::uint64_t to_number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// What the inside of one pair of braces stands for.
std::vector<std::string> alternatives(const std::string& pattern, std::string_view inside) {
  std::vector<std::string> out;
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) {
    if (inside.find(',') == std::string_view::npos) bad_pattern(pattern, "has braces without '..' or ',' in them");
    for (;;) {
      const std::size_t comma = inside.find(',');
      out.emplace_back(inside.substr(0, comma));
      if (comma == std::string_view::npos) return out;
      inside.remove_prefix(comma + 1);
    }
  }
  const std::string_view first = inside.substr(0, dots);
  const std::string_view last = inside.substr(dots + 2);
  if (!is_number(first) || !is_number(last)) bad_pattern(pattern, "has a range that is not {NUMBER..NUMBER}");
  const std::uint64_t begin = to_number(first);
  const std::uint64_t end = to_number(last);
  if (begin > end) bad_pattern(pattern, "has a range whose end is before its start");
  if (end - begin >= kMaxShards) bad_pattern(pattern, fmt::format("stands for more than {} files", kMaxShards));
  // As shells have it: a leading zero on either side makes all numbers equally wide.
  const auto is_padded = [](std::string_view digits) { return digits.size() > 1 && digits.front() == '0'; };
  const bool padded = is_padded(first) || is_padded(last);
  const std::size_t width = padded ? std::max(first.size(), last.size()) : 0;
  for (std::uint64_t i = begin; i <= end; ++i) out.push_back(fmt::format("{:0{}}", i, width));
  return out;
}

std::vector<fs::path> glob_files(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &found);
  struct Free {
    glob_t& found;
    ~Free() { ::globfree(&found); }
  } const free{found};
  if (result == GLOB_NOSPACE)
    throw Error(ErrorCode::out_of_memory, "no memory for the pattern's files", {.file = pattern});
  if (result == GLOB_ABORTED) throw Error(ErrorCode::io, "a folder of the pattern can't be read", {.file = pattern});
  std::vector<fs::path> out;
  for (std::size_t i = 0; i < found.gl_pathc; ++i) {
    if (fs::is_regular_file(found.gl_pathv[i])) out.emplace_back(found.gl_pathv[i]);
  }
  if (out.empty()) throw Error(ErrorCode::not_found, "no file fits the pattern", {.file = pattern});
  return out;
}

/// Everything before the first component that is a pattern, with its '/'.
std::string fixed_folder(const std::string& pattern) {
  const std::size_t special = pattern.find_first_of("{*?[");
  const std::size_t slash = pattern.rfind('/', special);
  return slash == std::string::npos ? std::string() : pattern.substr(0, slash + 1);
}

TarShardSet from_pattern(const std::string& pattern) {
  TarShardSet set;
  const std::string root = fixed_folder(pattern);
  const auto add = [&](const fs::path& path) {
    const std::string& text = path.native();
    set.shards.push_back({path, without_tar(text.starts_with(root) ? text.substr(root.size()) : text)});
  };
  for (const std::string& one : expand_braces(pattern)) {
    if (fs::is_regular_file(one)) {
      add(one);
    } else if (has_wildcard(one)) {
      for (const fs::path& path : glob_files(one)) add(path);
    } else {
      throw Error(ErrorCode::not_found, "no such file, but the pattern names it", {.file = one});
    }
  }
  return set;
}

void add_folder(const fs::path& folder, const std::string& prefix, TarShardSet& set,
                std::vector<std::string>& compressed) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().native();
    if (is_tar_name(name) && entry.is_regular_file()) set.shards.push_back({entry.path(), prefix + without_tar(name)});
    if (is_compressed_tar_name(name)) compressed.push_back(prefix + name);
  }
}

TarShardSet from_folder(const fs::path& folder) {
  TarShardSet set;
  std::vector<std::string> compressed;
  add_folder(folder, "", set, compressed);
  for (const std::string_view split : kSplitNames) {
    const fs::path inner = folder / split;
    if (fs::is_directory(inner)) add_folder(inner, std::string(split) + "/", set, compressed);
  }
  if (compressed.empty()) return set;
  std::sort(compressed.begin(), compressed.end());
  const std::string message = fmt::format("compressed tars can't be read, decompress them first: {}",
                                          name_a_few(compressed, compressed.size()));
  if (set.shards.empty()) throw Error(ErrorCode::unsupported, message, {.file = folder.native()});
  set.warnings.push_back("left out: " + message);
  return set;
}

}  // namespace

std::vector<std::string> expand_braces(const std::string& pattern) {
  std::vector<std::string> out = {""};
  std::string_view rest = pattern;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    const std::string_view literal = rest.substr(0, open);
    if (literal.find('}') != std::string_view::npos) bad_pattern(pattern, "has a '}' without a '{'");
    for (std::string& one : out) one += literal;
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) bad_pattern(pattern, "has a '{' without a '}'");
    const std::string_view inside = rest.substr(open + 1, close - open - 1);
    if (inside.find('{') != std::string_view::npos) bad_pattern(pattern, "has braces inside braces");
    const std::vector<std::string> parts = alternatives(pattern, inside);
    if (parts.size() > kMaxShards / out.size()) {
      bad_pattern(pattern, fmt::format("stands for more than {} files", kMaxShards));
    }
    std::vector<std::string> product;
    product.reserve(out.size() * parts.size());
    for (const std::string& one : out) {
      for (const std::string& part : parts) product.push_back(one + part);
    }
    out = std::move(product);
    rest.remove_prefix(close + 1);
  }
  return out;
}

bool is_shard_pattern(const fs::path& path) {
  std::error_code ignored;
  const std::string& text = path.native();
  return text.find_first_of("{*?[") != std::string::npos && ascii_lower(text).find(kTar) != std::string::npos &&
         !fs::exists(path, ignored);
}

bool is_compressed_tar_name(const std::string& name) {
  constexpr std::array<std::string_view, 11> kSuffixes = {".tar.gz",  ".tgz",      ".tar.zst", ".tzst",
                                                          ".tar.xz",  ".txz",      ".tar.bz2", ".tbz2",
                                                          ".tar.lz4", ".tar.lzma", ".tar.z"};
  const std::string lower = ascii_lower(name);
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return lower.ends_with(suffix); });
}

std::string split_of_shard(const std::string& name) {
  for (const std::string_view split : kSplitNames) {
    if (name.size() <= split.size() || !name.starts_with(split)) continue;
    if (std::string_view("/-_.").find(name[split.size()]) != std::string_view::npos) return std::string(split);
  }
  return {};
}

TarShardSet find_tar_shards(const fs::path& path) {
  TarShardSet set;
  try {
    if (is_shard_pattern(path)) {
      set = from_pattern(path.native());
    } else if (fs::is_directory(path)) {
      set = from_folder(path);
    } else {
      set.shards.push_back({path, without_tar(path.filename().native())});
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, error.code().message(), {.file = error.path1().native()});
  }
  const auto by_name = [](const TarShard& a, const TarShard& b) { return a.name < b.name; };
  const auto same = [](const TarShard& a, const TarShard& b) { return a.path == b.path; };
  std::sort(set.shards.begin(), set.shards.end(), by_name);
  set.shards.erase(std::unique(set.shards.begin(), set.shards.end(), same), set.shards.end());
  return set;
}

}  // namespace imgpack
