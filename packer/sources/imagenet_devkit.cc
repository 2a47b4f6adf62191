#include "packer/sources/imagenet_devkit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <span>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "imgpack/error.h"
#include "mmap/file.h"
#include "packer/sources/imagenet_names.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMeta = "meta.mat";
constexpr std::string_view kGroundTruth = "ILSVRC2012_validation_ground_truth.txt";
constexpr std::uint64_t kMaxGroundTruthBytes = 16u << 20;
constexpr std::int64_t kMaxUnpackedBytes = 1ll << 30;

std::string read_text(const File& file, const std::string& name) {
  const std::uint64_t size = file.size();
  if (size > kMaxGroundTruthBytes) {
    throw Error(ErrorCode::damaged, fmt::format("{} bytes are too many for a ground truth", size), {.file = name});
  }
  std::string text(size, '\0');
  file.read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

/// The two files of a devkit, open: loose ones, or nameless copies of a tar's members.
struct DevkitFiles {
  File meta;
  File ground_truth;
  std::string meta_name;
  std::string ground_truth_name;
};

DevkitFiles open_loose(const fs::path& folder) {
  const fs::path data = is_folder(folder / "data") ? folder / "data" : folder;
  DevkitFiles files;
  files.meta = File::open(data / kMeta, File::Mode::read);
  files.ground_truth = File::open(data / kGroundTruth, File::Mode::read);
  files.meta_name = files.meta.path().string();
  files.ground_truth_name = files.ground_truth.path().string();
  return files;
}

class DevkitTar {
 public:
  explicit DevkitTar(const fs::path& path) : file_(File::open(path, File::Mode::read)), handle_(archive_read_new()) {
    archive_read_support_format_tar(handle_.get());
    // Not exactly OK means that libarchive would run an external program.
    if (archive_read_support_filter_gzip(handle_.get()) != ARCHIVE_OK) {
      throw Error(ErrorCode::unsupported, "this libarchive can't decompress gzip: unpack the devkit",
                  {.file = path.string()});
    }
    constexpr std::size_t kBlock = 64u << 10;
    if (archive_read_open_fd(handle_.get(), file_.descriptor(), kBlock) != ARCHIVE_OK) fail();
  }

  DevkitFiles open_members() {
    DevkitFiles files;
    archive_entry* entry = nullptr;
    for (;;) {
      const int result = archive_read_next_header(handle_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
      check_total();
      const char* pathname = archive_entry_pathname(entry);
      if (pathname == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
      const std::string_view name = base_name(pathname);
      if (name == kMeta) copy(pathname, kMaxMetaBytes, files.meta, files.meta_name);
      if (name == kGroundTruth) copy(pathname, kMaxGroundTruthBytes, files.ground_truth, files.ground_truth_name);
    }
    if (!files.meta.is_open()) missing(kMeta);
    if (!files.ground_truth.is_open()) missing(kGroundTruth);
    return files;
  }

 private:
  struct FreeArchive {
    void operator()(archive* handle) const noexcept { archive_read_free(handle); }
  };

  [[noreturn]] void fail() const {
    const char* reason = archive_error_string(handle_.get());
    throw Error(ErrorCode::damaged,
                fmt::format("not a whole devkit: {}", reason == nullptr ? "unknown reason" : reason),
                {.file = file_.path().string()});
  }
  [[noreturn]] void missing(std::string_view name) const {
    throw Error(ErrorCode::not_found, fmt::format("the devkit has no {}", name), {.file = file_.path().string()});
  }
  // A few kilobytes of gzip may stand for gigabytes, also in members that are skipped.
  void check_total() const {
    if (archive_filter_bytes(handle_.get(), 0) > kMaxUnpackedBytes) {
      throw Error(ErrorCode::damaged, "unpacks to more than a devkit can be", {.file = file_.path().string()});
    }
  }

  /// The current member into a file in memory.
  void copy(const std::string& member, std::uint64_t limit, File& out, std::string& name) {
    name = (file_.path() / member).string();
    out = File(::memfd_create("imgpack-devkit", MFD_CLOEXEC), name);
    if (!out.is_open()) throw Error(ErrorCode::io, "no file in memory could be made", {.file = name});
    std::array<std::byte, 16384> buffer;
    std::uint64_t size = 0;
    for (;;) {
      const la_ssize_t got = archive_read_data(handle_.get(), buffer.data(), buffer.size());
      if (got == 0) return;
      if (got < 0) fail();
      const std::size_t count = static_cast<std::size_t>(got);
      if (count > limit - size) {
        throw Error(ErrorCode::damaged, fmt::format("is larger than {} bytes", limit), {.file = name});
      }
      out.write_at(size, std::span(buffer).first(count));
      size += count;
    }
  }

  File file_;
  std::unique_ptr<archive, FreeArchive> handle_;
};

}  // namespace

const Synset* Devkit::find(std::uint32_t id) const noexcept {
  const auto at = std::lower_bound(synsets.begin(), synsets.end(), id,
                                   [](const Synset& synset, std::uint32_t wanted) { return synset.id < wanted; });
  return at != synsets.end() && at->id == id ? &*at : nullptr;
}

std::optional<fs::path> find_devkit(const fs::path& folder) {
  constexpr std::string_view kUnpacked = "ILSVRC2012_devkit_t12";
  if (is_folder(folder / kUnpacked)) return folder / kUnpacked;
  if (is_file(folder / kDevkitName)) return folder / kDevkitName;
  if (is_file(folder / kMeta) && is_file(folder / kGroundTruth)) return folder;
  return std::nullopt;
}

std::vector<std::uint32_t> parse_ground_truth(std::string_view text, const std::string& name) {
  std::vector<std::uint32_t> ids;
  while (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), id);
    if (error != std::errc() || end != line.data() + line.size() || id == 0) {
      throw Error(ErrorCode::damaged,
                  fmt::format("line {}: '{}' is not an ILSVRC2012_ID", ids.size() + 1, printable(line.substr(0, 40))),
                  {.file = name});
    }
    ids.push_back(id);
  }
  return ids;
}

Devkit read_devkit(const fs::path& path) {
  const DevkitFiles files = is_folder(path) ? open_loose(path) : DevkitTar(path).open_members();
  Devkit devkit;
  devkit.synsets = read_synsets(files.meta, files.meta_name);
  devkit.ground_truth_name = files.ground_truth_name;
  devkit.validation =
      parse_ground_truth(read_text(files.ground_truth, files.ground_truth_name), files.ground_truth_name);
  for (std::size_t i = 0; i < devkit.validation.size(); ++i) {
    const Synset* synset = devkit.find(devkit.validation[i]);
    if (synset == nullptr || !synset->leaf) {
      throw Error(ErrorCode::damaged,
                  fmt::format("line {}: meta.mat has no class with the ILSVRC2012_ID {}", i + 1, devkit.validation[i]),
                  {.file = files.ground_truth_name});
    }
  }
  return devkit;
}

}  // namespace imgpack
