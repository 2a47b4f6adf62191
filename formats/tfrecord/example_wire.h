// The protobuf messages of a tf.train.Example, walked in place: where a value lies is found without copying it.
//
// What is small goes through the generated classes (example.proto); what may be large (image, segment index) must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace imgpack {

/// Examples beyond this size (2 GiB - 1) are refused: protobuf, and with it every reader, stops there.
inline constexpr std::uint64_t kMaxExampleBytes = 0x7fff'ffff;
/// Examples of more features are refused, so that memory stays bounded.
inline constexpr std::size_t kMaxFeatures = 4096;

enum class WireStatus : std::uint8_t { ok, malformed, too_large, too_many_features };

/// The features of one Example as views into its bytes. Reusable: parse() again. Not thread-safe.
class FeatureList {
 public:
  /// As protobuf has it, the last of several features of one name counts.
  WireStatus parse(std::span<const std::byte> example);

  /// The serialised Feature message of that name. Valid as long as the parsed bytes.
  std::optional<std::span<const std::byte>> find(std::string_view name) const noexcept;
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string_view name;
    std::span<const std::byte> feature;
  };
  WireStatus add_features(std::span<const std::byte> features);
  WireStatus add_entry(std::span<const std::byte> entry);

  std::vector<Entry> entries_;
};

/// The values of a Feature as far as it is a BytesList.
struct BytesValues {
  std::uint64_t count = 0;
  std::span<const std::byte> last;  ///< in place
  bool other_kind = false;          ///< it holds integers or floats
};
/// Nothing if the message is malformed.
std::optional<BytesValues> read_bytes_values(std::span<const std::byte> feature) noexcept;

}  // namespace imgpack
