// Records that somebody should look at, by why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpack::tools {

enum class Suspicion : std::uint8_t {
  damaged,         ///< its checksum is wrong, it can't be read or does not decode
  incomplete,      ///< a JPEG that decodes, but not cleanly to its end
  not_decoded,     ///< too large, or of a type that this build can't decode: nobody knows
  tiny,            ///< the shorter side is below kTinySide
  extreme_aspect,  ///< the longer side is more than kExtremeAspect times the shorter one
  gray,            ///< without colour, while nearly all others have it
};
inline constexpr std::size_t kSuspicions = 6;
inline constexpr std::uint32_t kTinySide = 32;
inline constexpr std::uint32_t kExtremeAspect = 4;

/// "damaged", "incomplete_jpeg", "not_decoded", "tiny", "extreme_aspect", "gray": names in JSON.
std::string_view to_string(Suspicion suspicion) noexcept;

struct Finding {
  std::uint64_t record = 0;
  std::string reason;
};

/// Counts all findings and keeps those of the first records, whatever the order in which they come.
class Findings {
 public:
  explicit Findings(std::size_t most_kept) : most_kept_(most_kept) {}

  void add(Suspicion suspicion, Finding finding);
  void merge(Findings&& other);
  /// Forgets all of one kind.
  void clear(Suspicion suspicion);

  std::uint64_t count(Suspicion suspicion) const noexcept { return of(suspicion).count; }
  /// By record.
  std::vector<Finding> kept(Suspicion suspicion) const;

 private:
  struct Kind {
    std::uint64_t count = 0;
    std::vector<Finding> kept;  ///< a heap: the last record on top
  };
  Kind& of(Suspicion suspicion) noexcept { return kinds_[static_cast<std::size_t>(suspicion)]; }
  const Kind& of(Suspicion suspicion) const noexcept { return kinds_[static_cast<std::size_t>(suspicion)]; }
  void keep(Kind& kind, Finding finding);

  std::size_t most_kept_;
  std::array<Kind, kSuspicions> kinds_;
};

}  // namespace imgpack::tools
