// The scans: one function a kind of source. Each fills a SourceList with entries in the order that Source::entry
// documents.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "packer/sources/source_list.h"

namespace imgpack {

/// A folder of class folders, a flat folder of images, or one with train/ val/ test/, whichever `root` is.
void scan_folder(const std::filesystem::path& root, const SourceOptions& options, SourceList& list);

/// Whether `root` holds Kaggle's ILSVRC layout (at any of its usual depths), and its scan.
bool is_kaggle_layout(const std::filesystem::path& root);
void scan_kaggle(const std::filesystem::path& root, const SourceOptions& options, SourceList& list);

/// Whether `path` is one of ImageNet's own tars or a folder of them, and the scan. A devkit (tar or unpacked) is looked
/// for beside the val tar; without one the val split has no labels and the list a warning.
bool is_imagenet_tars(const std::filesystem::path& path);
void scan_imagenet_tars(const std::filesystem::path& path, const SourceOptions& options, SourceList& list);

/// One WebDataset shard, a folder of shards, or a brace or glob pattern of them.
bool is_webdataset(const std::filesystem::path& path);
void scan_webdataset(const std::filesystem::path& path, const SourceOptions& options, SourceList& list);

/// A CSV or TSV manifest: path,label[,split][,key][,more columns -> fields], with a header line. Paths are relative to
/// the manifest.
bool is_manifest(const std::filesystem::path& path);
void scan_manifest(const std::filesystem::path& path, const SourceOptions& options, SourceList& list);

}  // namespace imgpack
