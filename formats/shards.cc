#include "formats/shards.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <glob.h>
#include <nlohmann/json.hpp>

#include "formats/text.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/paths.h"
#include "mmap/publish.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxManifestBytes = 64u << 20;
constexpr std::string_view kMarker = "imgpack_manifest";

bool only_accompanies(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".idx" || extension == ".imgpack" || extension == ".partial" || extension == ".journal" ||
         extension == ".lock";
}

/// The number in "stem-00002-of-00008ext", and the count.
std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_shard_name(std::string_view name, std::string_view stem,
                                                                        std::string_view extension) {
  constexpr std::string_view kPattern = "-#####-of-#####";
  if (name.size() != stem.size() + kPattern.size() + extension.size() || !name.starts_with(stem) ||
      !name.ends_with(extension)) {
    return std::nullopt;
  }
  const std::string_view middle = name.substr(stem.size(), kPattern.size());
  std::uint32_t numbers[2] = {0, 0};
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] != '#') {
      if (middle[i] != kPattern[i]) return std::nullopt;
      continue;
    }
    if (middle[i] < '0' || middle[i] > '9') return std::nullopt;
    std::uint32_t& number = numbers[i < 7 ? 0 : 1];
    number = number * 10 + static_cast<std::uint32_t>(middle[i] - '0');
  }
  return std::pair{numbers[0], numbers[1]};
}

}  // namespace

fs::path shard_path(const fs::path& path, std::uint32_t shard, std::uint32_t count) {
  return path.parent_path() /
         fmt::format("{}-{:05d}-of-{:05d}{}", path.stem().string(), shard, count, path.extension().string());
}

std::vector<fs::path> shards_of(const fs::path& path) {
  const fs::path folder = folder_of(path);
  const std::string stem = path.stem().string();
  const std::string extension = path.extension().string();
  std::map<std::uint32_t, std::map<std::uint32_t, fs::path>> sets;  // by count
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (const auto numbers = parse_shard_name(name, stem, extension)) {
      sets[numbers->second][numbers->first] = path.parent_path() / name;
    }
  }
  if (sets.empty()) return {};
  const auto fail = [&](std::string message) { throw Error(ErrorCode::damaged, std::move(message), in_file(path)); };
  if (sets.size() > 1) fail("there are several sets of shards with this name; name one with a pattern");
  const auto& [count, shards] = *sets.begin();
  std::vector<fs::path> paths;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto found = shards.find(i);
    if (found == shards.end()) fail(fmt::format("{} is missing", shard_path(path, i, count).string()));
    paths.push_back(found->second);
  }
  return paths;
}

std::vector<fs::path> expand_pattern(const fs::path& pattern) {
  glob_t found{};
  std::vector<fs::path> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      fs::path path = found.gl_pathv[i];
      if (!only_accompanies(path)) paths.push_back(std::move(path));
    }
  }
  ::globfree(&found);
  std::sort(paths.begin(), paths.end());  // glob() sorts by locale
  return paths;
}

bool recognise_manifest(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && text.find(kMarker) != std::string_view::npos;
}

std::vector<ManifestShard> read_manifest(const fs::path& path) {
  const ErrorPlace place = in_file(path);
  const File file = File::open(path, File::Mode::read);
  if (file.size() > kMaxManifestBytes) throw Error(ErrorCode::damaged, "the manifest is absurdly large", place);
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read_at(0, bytes);
  std::vector<ManifestShard> shards;
  try {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const nlohmann::json json = nlohmann::json::parse(text, text + bytes.size());
    if (json.at(kMarker).get<int>() != 1)
      throw Error(ErrorCode::unsupported, "the manifest's version is not supported", place);
    for (const nlohmann::json& item : json.at("shards")) {
      const fs::path name(item.at("file").get<std::string>());
      shards.push_back({.path = name.is_absolute() ? name : path.parent_path() / name,
                        .records = item.at("records").get<std::uint64_t>(),
                        .content_digest = std::stoull(item.at("content_digest").get<std::string>(), nullptr, 16)});
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::damaged, fmt::format("the manifest cannot be read: {}", error.what()), place);
  }
  if (shards.empty()) throw Error(ErrorCode::damaged, "the manifest lists no files", place);
  return shards;
}

void write_manifest(const fs::path& path, const std::vector<ManifestShard>& shards, bool overwrite) {
  nlohmann::ordered_json json;
  json[std::string(kMarker)] = 1;
  json["shards"] = nlohmann::ordered_json::array();
  const fs::path folder = fs::absolute(path).lexically_normal().parent_path();
  for (const ManifestShard& shard : shards) {
    const fs::path relative = fs::absolute(shard.path).lexically_normal().lexically_relative(folder);
    if (!is_utf8(relative.native())) {
      throw Error(ErrorCode::invalid_argument, "a manifest cannot list it: its name is not UTF-8", in_file(shard.path));
    }
    json["shards"].push_back({{"file", relative.string()},
                              {"records", shard.records},
                              {"content_digest", fmt::format("{:016x}", shard.content_digest)}});
  }
  const std::string text = json.dump(2) + "\n";
  const fs::path partial = with_suffix(path, ".partial");
  File file = File::open(partial, File::Mode::create);
  try {
    file.write_at(0, std::as_bytes(std::span(text.data(), text.size())));
    file.close();
    publish_file(partial, path, overwrite);
  } catch (...) {
    remove_quietly(partial);
    throw;
  }
}

}  // namespace imgpack
