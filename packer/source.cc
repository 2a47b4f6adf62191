#include "packer/source.h"

#include <string>

#include "imgpack/error.h"
#include "imgpack/store.h"
#include "mmap/system_error.h"
#include "packer/sources/scans.h"
#include "packer/sources/source_list.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

/// One kind of source: how it is recognised, and its scan.
struct SourceKind {
  bool (*recognise)(const std::filesystem::path& path);
  void (*scan)(const std::filesystem::path& path, const SourceOptions& options, SourceList& list);
};

/// Throws not_found, io.
bool is_existing_folder(const std::filesystem::path& path) {
  const PathKind kind = path_kind(path);
  if (kind == PathKind::none) throw Error(ErrorCode::not_found, "no such file or folder", in_file(path));
  return kind == PathKind::folder;
}

// In the order in which they are tried: the first that recognises a path has it.
constexpr SourceKind kKinds[] = {
    {is_manifest, scan_manifest},
    {is_kaggle_layout, scan_kaggle},
#ifdef IMGPACK_HAVE_ARCHIVE
    {is_imagenet_tars, scan_imagenet_tars},
    {is_webdataset, scan_webdataset},  // also patterns, which are no path that exists
#endif
    {is_existing_folder, scan_folder},
};

[[noreturn]] void refuse(const std::filesystem::path& path) {
#ifndef IMGPACK_HAVE_ARCHIVE
  if (ascii_lower(path.extension().native()) == ".tar") {
    throw Error(ErrorCode::unsupported, "this build cannot read tars: it was made without libarchive", in_file(path));
  }
#endif
  throw Error(ErrorCode::refused, "is no folder, tar, manifest (.csv, .tsv) or packed dataset", in_file(path));
}

}  // namespace

void SourceEntry::clear() {
  key.clear();
  label = kNoLabel;
  split = 0;
  fields.clear();
  size = 0;
  problem.clear();
  container = 0;
  offset = 0;
  path.clear();
}

std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceOptions& options) {
  if (is_packed_dataset(path)) return open_packed_source(path);
  for (const SourceKind& kind : kKinds) {
    try {
      if (!kind.recognise(path)) continue;
      SourceList list(options);
      kind.scan(path, options, list);
      return std::move(list).finish();
    } catch (const Error& error) {
      if (!error.place().file.empty()) throw;
      throw Error(error.code(), error.message(),
                  {.file = path.native(), .record = error.place().record, .offset = error.place().offset});
    } catch (const std::filesystem::filesystem_error& error) {
      throw system_error(error.code().value(), "look at", error.path1().empty() ? path : error.path1());
    }
  }
  refuse(path);
}

}  // namespace imgpack
