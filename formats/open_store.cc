#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/backend.h"
#include "formats/shards.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "mmap/file.h"
#include "mmap/paths.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHeadBytes = 4096;

std::vector<std::byte> read_head(const File& file) {
  std::vector<std::byte> head(kHeadBytes);
  head.resize(file.read_some_at(0, head));
  return head;
}

const FormatEntry* recognise(std::span<const std::byte> head, std::uint64_t size) {
  for (const FormatEntry& entry : format_entries()) {
    if (entry.recognise(head, size)) return &entry;
  }
  return nullptr;
}

std::string formats_text() {
  std::string text;
  for (const FormatEntry& entry : format_entries()) {
    if (!text.empty()) text += ", ";
    text += to_string(entry.format);
  }
  return text;
}

std::unique_ptr<StoreReader> open_file(const fs::path& path, std::span<const std::byte> head, std::uint64_t size) {
  const FormatEntry* entry = recognise(head, size);
  if (entry != nullptr) return entry->open(path);
  throw Error(ErrorCode::damaged,
              size == 0 ? "the file is empty"
                        : fmt::format("it is no packed dataset, or its beginning is damaged (this build knows {})",
                                      formats_text()),
              in_file(path));
}

/// Opening a pipe would wait for a writer, and a device may have no end.
void require_regular(const fs::path& path) {
  const PathKind kind = path_kind(path);
  if (kind == PathKind::folder || kind == PathKind::other) {
    throw Error(ErrorCode::invalid_argument, "it is not a regular file", in_file(path));
  }
}

std::unique_ptr<StoreReader> open_one(const fs::path& path) {
  require_regular(path);
  const File file = File::open(path, File::Mode::read);
  return open_file(path, read_head(file), file.size());
}

std::unique_ptr<StoreReader> open_manifest(const fs::path& path) {
  std::vector<std::unique_ptr<StoreReader>> shards;
  for (const ManifestShard& item : read_manifest(path)) {
    shards.push_back(open_one(item.path));
    const DatasetInfo& info = shards.back()->info();
    if (info.records != item.records || info.content_digest != item.content_digest) {
      throw Error(ErrorCode::damaged, fmt::format("it is not the file that {} was made from", path.string()),
                  in_file(item.path));
    }
  }
  return make_sharded_store(path, std::move(shards));
}

std::unique_ptr<StoreReader> open_all(const fs::path& name, const std::vector<fs::path>& paths) {
  std::vector<std::unique_ptr<StoreReader>> shards;
  for (const fs::path& path : paths) shards.push_back(open_one(path));
  return make_sharded_store(name, std::move(shards));
}

}  // namespace

bool is_packed_dataset(const fs::path& path) {
  if (path_kind(path) != PathKind::file) return false;
  const File file = File::open(path, File::Mode::read);
  const std::vector<std::byte> head = read_head(file);
  // An empty file is a TFRecord only for somebody who opens it as one.
  return recognise_manifest(head) || (!head.empty() && recognise(head, file.size()) != nullptr);
}

std::unique_ptr<StoreReader> open_store(const fs::path& path) {
  const PathKind kind = path_kind(path);
  if (kind == PathKind::folder || kind == PathKind::other) {
    throw Error(ErrorCode::invalid_argument,
                kind == PathKind::folder ? "it is a folder, not a packed dataset" : "it is not a regular file",
                in_file(path));
  }
  if (kind == PathKind::file) {
    const File file = File::open(path, File::Mode::read);
    const std::vector<std::byte> head = read_head(file);
    if (recognise_manifest(head)) return open_manifest(path);
    return open_file(path, head, file.size());
  }
  if (path.string().find_first_of("*?[") != std::string::npos) {
    const std::vector<fs::path> paths = expand_pattern(path);
    if (paths.empty()) throw Error(ErrorCode::not_found, "no file matches this pattern", in_file(path));
    return open_all(path, paths);
  }
  if (const std::vector<fs::path> paths = shards_of(path); !paths.empty()) return open_all(path, paths);
  throw Error(ErrorCode::not_found, "there is no such file", in_file(path));
}

}  // namespace imgpack
