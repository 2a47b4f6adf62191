#include "measure/loose_files.h"

#include <algorithm>
#include <system_error>

#include "codec/image_header.h"
#include "codec/image_name.h"
#include "mmap/file.h"
#include "mmap/paths.h"
#include "mmap/system_error.h"

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> names_below(const fs::path& folder) {
  std::vector<fs::path> names;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink, failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end; entry.increment(failed)) {
    if (!has_image_name(entry->path().native())) continue;
    std::error_code unknown;
    if (entry->is_regular_file(unknown)) names.push_back(entry->path());
  }
  if (failed) throw system_error(failed.value(), "list", folder);
  std::ranges::sort(names);
  return names;
}

/// REQUIRES: sorted by path. Folders are numbered in the order of their names, which that of the paths may not be:
/// "a.b/x" comes before "a/x".
void number_labels(std::vector<LooseFile>& files) {
  std::vector<fs::path> folders;
  for (const LooseFile& file : files) {
    fs::path folder = file.path.parent_path();
    if (folders.empty() || folders.back() != folder) folders.push_back(std::move(folder));
  }
  std::ranges::sort(folders);
  folders.erase(std::ranges::unique(folders).begin(), folders.end());
  for (LooseFile& file : files) {
    file.label = std::ranges::lower_bound(folders, file.path.parent_path()) - folders.begin();
  }
}

}  // namespace

std::vector<LooseFile> list_images(const fs::path& folder) {
  std::vector<LooseFile> files;
  for (fs::path& name : names_below(folder)) files.push_back({.path = std::move(name), .label = kNoLabel});
  if (files.empty()) throw Error(ErrorCode::invalid_argument, "there are no images in this folder", in_file(folder));
  number_labels(files);
  return files;
}

std::span<const std::byte> read_image(const fs::path& path, ByteBuffer& buffer) {
  const File file = File::open(path, File::Mode::read);
  const std::span<std::byte> bytes = buffer.resize(file.size());
  file.read_at(0, bytes);
  return bytes;
}

RecordMeta describe_image(const LooseFile& file, std::span<const std::byte> bytes) {
  const ImageHeaderResult read = read_image_header(bytes);
  if (read.status != ImageHeaderStatus::ok) throw Error(ErrorCode::damaged, read.reason, in_file(file.path));
  return {.label = file.label,
          .width = read.header.width,
          .height = read.header.height,
          .channels = read.header.channels,
          .codec = read.header.codec,
          .payload_size = bytes.size()};
}

Error image_error(const fs::path& path, const ImageResult& result) {
  const bool too_large = result.status == ImageStatus::too_large;
  const bool unsupported = result.status == ImageStatus::unsupported;
  return Error(too_large     ? ErrorCode::out_of_memory
               : unsupported ? ErrorCode::unsupported
                             : ErrorCode::damaged,
               result.reason, in_file(path));
}

}  // namespace imgpack::measure
