// Where a run through a dataset stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace imgpack {

/// Enough to go on from there, also on another number of ranks, with exactly the samples that the epoch has not seen.
struct LoaderState {
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;  ///< of the epoch, of all ranks, that have been delivered; below the epoch's number
  std::uint64_t seed = 0;
  std::uint64_t order = 0;  ///< Sampler::fingerprint(): dataset and way of sampling

  /// {"version": 1, "epoch": 3, "samples": 5120, "seed": "0x...", "order": "0x..."}.
  std::string to_json() const;
  /// Throws invalid_argument for text that is no such object: a member missing or of another type or form, another
  /// version. Further members are ignored.
  static LoaderState from_json(std::string_view text);
  bool operator==(const LoaderState&) const = default;
};

}  // namespace imgpack
