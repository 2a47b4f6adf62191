// Packing: from a source to a packed dataset, from one format to another, and joining shards.
//
//   imgpack::BuildReport report = imgpack::build("imagenet/", "imagenet.rec", {});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "imgpack/dataset_info.h"
#include "imgpack/store.h"
#include "imgpack/transform.h"

namespace imgpack {

enum class OnError : std::uint8_t {
  stop,  ///< the first entry that can't be packed ends the build
  skip,  ///< such entries are left out and listed
};

struct BuildProgress {
  enum class Stage : std::uint8_t { scanning, packing, finishing } stage = Stage::scanning;
  std::uint64_t entries_done = 0;
  std::uint64_t entries_total = 0;  ///< 0 while scanning
  std::uint64_t bytes_done = 0;     ///< of payload
};

struct BuildOptions {
  std::optional<Format> format = {};  ///< default: by the output's extension, else rec
  unsigned threads = 0;               ///< 0: as many as this process may use
  OnError on_error = OnError::stop;
  bool resume = false;                  ///< go on with an interrupted build of the same output, source and options
  bool overwrite = false;               ///< replace an existing output
  std::filesystem::path work_dir = {};  ///< for nameless temporary files; empty: the output's folder
  bool dry_run = false;                 ///< scan and plan, write nothing
  /// Pack only so many entries, equally many of each class as far as there are; 0: all. Splits share them in proportion
  /// to their sizes, each gets one at least if that is possible. Of a class the first entries are taken, and all stay
  /// in the order of the source.
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> shuffle_seed = {};  ///< store each split in shuffled order
  std::uint32_t shards = 0;                        ///< number of files; 0 and 1: one
  std::uint64_t shard_size = 0;  ///< instead of `shards`: cut so that a shard's source bytes do not exceed this
  std::optional<std::uint32_t> only_shard = {};  ///< build just this one (counted from 0) of `shards`
  /// What is made of each image. build() without it: the files' bytes with segment indexes, Transform{}. convert()
  /// without it: records as they are.
  std::optional<Transform> transform = {};
  std::uint32_t alignment = 64;                      ///< of payloads in rec files
  std::uint64_t max_pixels = kDefaultMaxPixels;      ///< larger images are refused
  std::map<std::string, std::string> metadata = {};  ///< free-form, stored in the dataset
  /// Called now and then on the thread that called build(). Returning false cancels: build() throws
  /// Error(invalid_argument, "cancelled") and leaves what a resume can use.
  std::function<bool(const BuildProgress&)> progress = {};
};

/// How many records are decoded in which way.
struct DecodePaths {
  std::uint64_t indexed_jpeg = 0;  ///< by segments, on a GPU if there is one, only as far as a crop needs
  std::uint64_t raw = 0;           ///< pixels already
  std::uint64_t raw_zstd = 0;      ///< pixels once decompressed, on the CPU
  std::uint64_t whole_jpeg = 0;    ///< JPEG without a segment index, on the CPU
  std::uint64_t other = 0;         ///< PNG, WebP, ..., on the CPU

  std::uint64_t on_cpu() const noexcept { return raw_zstd + whole_jpeg + other; }
  std::uint64_t all() const noexcept { return indexed_jpeg + raw + on_cpu(); }
};

/// Counts over the store's index; no payload is read. Throws what StoreReader::meta throws.
DecodePaths count_decode_paths(const StoreReader& store);

struct BuildReport {
  std::vector<std::filesystem::path> outputs;  ///< what was, or with dry_run would be, written
  Format format = Format::rec;
  std::string source_kind;
  std::uint64_t entries = 0;  ///< candidates in the source, after `limit`
  std::uint64_t records = 0;  ///< in the outputs; with dry_run 0
  std::uint64_t payload_bytes = 0;
  std::uint64_t resumed_entries = 0;  ///< taken over from an interrupted build
  std::uint64_t classes = 0;
  std::vector<Split> splits;
  std::uint64_t refused_count = 0;  ///< entries that can't be packed
  std::uint64_t ignored_count = 0;  ///< entries that are no images and not named like one
  std::vector<LeftOut> left_out;    ///< the first DatasetInfo::kMaxLeftOut of both
  DecodePaths decode_paths;         ///< of the outputs' records
  std::vector<std::string> warnings;
  double seconds = 0;  ///< wall time
};

/// Packs `source` into `output`. Throws refused (with OnError::stop, naming the entry; nothing is published),
/// already_exists, busy, not_found, unsupported, damaged, io. The output does not depend on `threads`, nor on having
/// been interrupted.
BuildReport build(const std::filesystem::path& source, const std::filesystem::path& output,
                  const BuildOptions& options);

/// The same from a packed dataset in any format: records, labels, splits, fields and descriptions are taken over.
BuildReport convert(const std::filesystem::path& input, const std::filesystem::path& output,
                    const BuildOptions& options);

/// Writes a manifest at `output` that joins `inputs` (packed files, patterns or manifests) as one sequence. Throws
/// damaged for inputs whose classes or fields differ, refused for a key that stands in two of them, invalid_argument if
/// `output` is one of the inputs, already_exists, and what open_store throws.
void merge(const std::filesystem::path& output, const std::vector<std::filesystem::path>& inputs, bool overwrite);

/// The version of this library, "0.1.0".
std::string version();

}  // namespace imgpack
