// Checking that a packed dataset keeps every promise it makes.
//
//   imgpack::VerifyReport report = imgpack::verify("imagenet.rec", {});
//   if (report.damage_count != 0) std::cerr << report.damage.front().what;
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "imgpack/dataset_info.h"
#include "imgpack/store.h"

namespace imgpack {

struct VerifyOptions {
  unsigned threads = 0;                          ///< 0: as many as this process may use
  std::size_t max_damage = 1000;                 ///< findings kept in the report; all are counted
  std::uint64_t max_pixels = kDefaultMaxPixels;  ///< verify_pixels() decodes no larger images, and reports them
  /// Called now and then, from one thread at a time, with (records done, records in all). Returning false cancels:
  /// verify then throws Error(invalid_argument, "cancelled").
  std::function<bool(std::uint64_t, std::uint64_t)> progress;
};

struct VerifyReport {
  std::uint64_t records = 0;        ///< checked
  std::uint64_t payload_bytes = 0;  ///< read and compared with their checksums
  std::uint64_t damage_count = 0;
  std::vector<Damage> damage;  ///< the first max_damage, ordered by file, record, offset
};

/// Checks container, index, every record's checksum, key and label, and the dataset's own counts. Damage is reported,
/// also where it keeps the file from being opened; only not_found, io and unsupported are thrown. Memory is bounded.
VerifyReport verify(const std::filesystem::path& path, const VerifyOptions& options);
VerifyReport verify(const StoreReader& store, const VerifyOptions& options);

/// Decodes every record. Of a JPEG with a segment index, the index must be the one that a fresh pass over the payload
/// gives, and a part of the image decoded by it (which one depends on the record's number) must equal the same part of
/// libjpeg-turbo's whole decode. Records kept as PNG and the like need a build that can decode them. Memory: two images
/// a thread, and what their decoders need. Which findings are listed, beyond max_damage, depends on the threads.
VerifyReport verify_pixels(const StoreReader& store, const VerifyOptions& options);

struct SourceReport {
  std::uint64_t compared = 0;  ///< records whose bytes equal their source's
  /// Each list holds the first max_damage findings, each count all of them.
  std::uint64_t different_count = 0;
  std::vector<Damage> different;  ///< a record whose bytes, label, split or fields are not its source's
  std::uint64_t missing_count = 0;
  std::vector<LeftOut> missing;  ///< an entry of the source that could be packed but is not there
  std::uint64_t extra_count = 0;
  std::vector<Damage> extra;  ///< a record that the source does not have
  std::uint64_t left_out_count = 0;
  std::vector<LeftOut> left_out;  ///< an entry of the source that is not there because it can't be packed

  bool good() const noexcept { return different_count == 0 && missing_count == 0 && extra_count == 0; }
};

/// Compares a dataset packed with `--encode keep` with what `source` (a folder, tar, manifest or packed dataset) holds
/// now. `work_dir` is for nameless temporary files. Throws what opening the source throws.
SourceReport verify_source(const StoreReader& store, const std::filesystem::path& source,
                           const std::filesystem::path& work_dir, const VerifyOptions& options);

}  // namespace imgpack
