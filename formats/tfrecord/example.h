// imgpack's records as tf.train.Examples: which features there are, and the way there and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tfrecord/example_wire.h"
#include "imgpack/dataset_info.h"
#include "imgpack/record.h"

namespace imgpack {

namespace feature {
// The names that ImageNet's TFRecords have used since TensorFlow's first models.
inline constexpr std::string_view kEncoded = "image/encoded";
inline constexpr std::string_view kFormat = "image/format";
inline constexpr std::string_view kLabel = "image/class/label";
inline constexpr std::string_view kText = "image/class/text";
inline constexpr std::string_view kFilename = "image/filename";
inline constexpr std::string_view kHeight = "image/height";
inline constexpr std::string_view kWidth = "image/width";
inline constexpr std::string_view kChannels = "image/channels";
// What else the record model has.
inline constexpr std::string_view kCodec = "imgpack/codec";
inline constexpr std::string_view kChecksum = "imgpack/checksum";
inline constexpr std::string_view kSplit = "imgpack/split";
inline constexpr std::string_view kChain = "imgpack/chain";
inline constexpr std::string_view kDataset = "imgpack/dataset";
inline constexpr std::string_view kSegments = "imgpack/segments";
/// User fields are named this and their own name.
inline constexpr std::string_view kFieldPrefix = "field/";
}  // namespace feature

/// A longer dataset description is neither written into the first record nor read from it.
inline constexpr std::size_t kMaxDatasetFeatureBytes = 8u << 20;

/// "JPEG", "PNG", ..., as image/format has it; upper case.
std::string format_feature_text(Codec codec);
/// Case does not matter; "JPG" is JPEG. Codec::unknown for other text.
Codec codec_from_format_feature(std::string_view text);

/// The chain value of the record behind the one that had `chain` and whose frame ends in `stored_crc`.
std::uint64_t next_chain(std::uint64_t chain, std::uint32_t stored_crc) noexcept;

/// What an Example has besides the Record.
struct ExampleExtras {
  std::string_view class_text;
  std::optional<std::string_view> split;
  std::uint64_t chain = 0;
  std::string_view dataset;  ///< JSON; only in the first record, empty elsewhere
};

/// Serialises Examples. The same record always gives the same bytes. Not thread-safe.
class ExampleEncoder {
 public:
  explicit ExampleEncoder(std::vector<FieldSpec> fields);
  ~ExampleEncoder();

  /// An Example is head, segments, middle, payload, one after the other: so that the large ones are never copied. The
  /// middle ends where the payload begins; without segments it is empty.
  struct Parts {
    std::span<const std::byte> head;  ///< valid until the next encode()
    std::span<const std::byte> middle;
    std::uint64_t size = 0;  ///< of the whole Example
  };
  /// Throws refused if the Example would be larger than kMaxExampleBytes.
  Parts encode(const Record& record, const ExampleExtras& extras);

 private:
  struct Message;
  void write_small_features(const Record& record, const ExampleExtras& extras);
  void add_bytes(std::string_view name, std::string_view value);
  void add_int(std::string_view name, std::int64_t value);
  void add_field(const FieldSpec& field, std::string_view value);
  void append_message();

  std::vector<FieldSpec> fields_;
  std::unique_ptr<Message> message_;
  std::string small_;
  std::string head_;
  std::string middle_;
};

/// A record as an Example tells it. What the Example lacks is what the comments say. Views into the Example or the
/// decoder.
struct DecodedExample {
  RecordMeta meta;  ///< checksum is computed if the Example has none
  std::span<const std::byte> payload;
  std::span<const std::byte> segments;
  std::optional<std::string_view> key;  ///< nothing if there is none that a store may have
  std::string_view class_text;          ///< empty
  std::string_view class_synset;  ///< empty; image/class/synset of TensorFlow's ImageNet, which imgpack does not write
  std::optional<std::string_view> split;
  std::optional<std::uint64_t> chain;
  std::string_view dataset;  ///< empty
  std::span<const std::string_view> fields;
};

enum class ExampleStatus : std::uint8_t {
  ok,
  malformed,          ///< not a serialised tf.train.Example
  too_large,          ///< more than kMaxExampleBytes
  too_many_features,  ///< more than kMaxFeatures
  no_image,           ///< no image/encoded, or it is not bytes, or empty list
  several_images,     ///< image/encoded has more than one value
  bad_field,          ///< a user field is missing or has another type or number of values
};
std::string_view to_string(ExampleStatus status) noexcept;
/// Whether the file is sound but not something that imgpack can hold, rather than damaged.
bool is_unsupported(ExampleStatus status) noexcept;

/// Reads Examples, imgpack's own and others'. Reusable, not thread-safe.
class ExampleDecoder {
 public:
  explicit ExampleDecoder(std::vector<FieldSpec> fields);
  ~ExampleDecoder();

  /// `example` must outlive the use of decoded().
  ExampleStatus decode(std::span<const std::byte> example);
  const DecodedExample& decoded() const noexcept { return decoded_; }

 private:
  struct Message;
  ExampleStatus read_image();
  void read_names();
  void read_meta();
  bool read_fields();
  std::optional<std::span<const std::byte>> bytes_value(std::string_view name) const noexcept;
  std::string_view text_value(std::string_view name) const noexcept;
  std::optional<std::int64_t> int_value(std::string_view name);
  bool read_numbers(std::span<const std::byte> feature, const FieldSpec& field, std::string& value);

  std::vector<FieldSpec> fields_;
  std::vector<std::string> field_names_;  ///< with prefix
  FeatureList features_;
  std::unique_ptr<Message> message_;
  DecodedExample decoded_;
  std::vector<std::string> numbers_;  ///< values of fields that are not bytes
  std::vector<std::string_view> field_values_;
};

}  // namespace imgpack
