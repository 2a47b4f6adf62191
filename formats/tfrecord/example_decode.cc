#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/tfrecord/example.h"
#include "formats/tfrecord/example.pb.h"
#include "mmap/little_endian.h"

namespace imgpack {
namespace {

using Bytes = std::span<const std::byte>;

// No list of one integer is longer; a longer one is not even parsed, so that memory stays bounded.
constexpr std::size_t kMaxScalarFeatureBytes = 64;

std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Unsigned>
Unsigned in_range_or_zero(std::optional<std::int64_t> value) noexcept {
  return value && std::in_range<Unsigned>(*value) ? static_cast<Unsigned>(*value) : Unsigned{0};
}

}  // namespace

Codec codec_from_format_feature(std::string_view text) {
  std::string lower(text.substr(0, 32));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "jpg") return Codec::jpeg;
  return codec_from_name(lower).value_or(Codec::unknown);
}

std::uint64_t next_chain(std::uint64_t chain, std::uint32_t stored_crc) noexcept {
  std::array<std::byte, 12> bytes;
  store_le(bytes.data(), chain);
  store_le(bytes.data() + 8, stored_crc);
  return checksum_of(bytes);
}

std::string_view to_string(ExampleStatus status) noexcept {
  switch (status) {
    case ExampleStatus::ok:
      return "Example is sound";
    case ExampleStatus::malformed:
      return "frame does not hold a tf.train.Example";
    case ExampleStatus::too_large:
      return "Example is larger than 2 GiB, which protobuf cannot read";
    case ExampleStatus::too_many_features:
      return "Example has more than 4096 features";
    case ExampleStatus::no_image:
      return "Example has no image/encoded of type bytes";
    case ExampleStatus::several_images:
      return "Example has several values of image/encoded; a record is one image";
    case ExampleStatus::bad_field:
      return "Example lacks a user field of this dataset, or has another type or number of values for it";
  }
  return "unknown Example status";
}

bool is_unsupported(ExampleStatus status) noexcept {
  return status == ExampleStatus::too_large || status == ExampleStatus::too_many_features ||
         status == ExampleStatus::no_image || status == ExampleStatus::several_images;
}

struct ExampleDecoder::Message {
  tfrecord::Feature feature;
};

ExampleDecoder::ExampleDecoder(std::vector<FieldSpec> fields)
    : fields_(std::move(fields)),
      message_(std::make_unique<Message>()),
      numbers_(fields_.size()),
      field_values_(fields_.size()) {
  for (const FieldSpec& field : fields_) field_names_.push_back(fmt::format("{}{}", feature::kFieldPrefix, field.name));
}

ExampleDecoder::~ExampleDecoder() = default;

ExampleStatus ExampleDecoder::decode(Bytes example) {
  decoded_ = {};
  switch (features_.parse(example)) {
    case WireStatus::malformed:
      return ExampleStatus::malformed;
    case WireStatus::too_large:
      return ExampleStatus::too_large;
    case WireStatus::too_many_features:
      return ExampleStatus::too_many_features;
    case WireStatus::ok:
      break;
  }
  if (const ExampleStatus status = read_image(); status != ExampleStatus::ok) return status;
  read_names();
  read_meta();
  return read_fields() ? ExampleStatus::ok : ExampleStatus::bad_field;
}

ExampleStatus ExampleDecoder::read_image() {
  const auto feature = features_.find(feature::kEncoded);
  if (!feature) return ExampleStatus::no_image;
  const auto values = read_bytes_values(*feature);
  if (!values) return ExampleStatus::malformed;
  if (values->other_kind || values->count == 0) return ExampleStatus::no_image;
  if (values->count > 1) return ExampleStatus::several_images;
  decoded_.payload = values->last;
  return ExampleStatus::ok;
}

void ExampleDecoder::read_names() {
  decoded_.class_text = text_value(feature::kText);
  decoded_.class_synset = text_value("image/class/synset");
  if (const auto split = bytes_value(feature::kSplit)) decoded_.split = as_text(*split);
  if (const auto chain = int_value(feature::kChain)) decoded_.chain = static_cast<std::uint64_t>(*chain);
  // Only imgpack means something by an empty name; and only imgpack writes a chain.
  const auto key = bytes_value(feature::kFilename);
  if (key && key->size() <= kMaxKeyBytes && (decoded_.chain || !key->empty())) decoded_.key = as_text(*key);
  decoded_.dataset = text_value(feature::kDataset);
  if (decoded_.dataset.size() > kMaxDatasetFeatureBytes) decoded_.dataset = {};
}

void ExampleDecoder::read_meta() {
  RecordMeta& meta = decoded_.meta;
  decoded_.segments = bytes_value(feature::kSegments).value_or(Bytes{});
  meta.payload_size = decoded_.payload.size();
  meta.segments_size = decoded_.segments.size();
  meta.label = std::max(int_value(feature::kLabel).value_or(kNoLabel), kNoLabel);
  meta.width = in_range_or_zero<std::uint32_t>(int_value(feature::kWidth));
  meta.height = in_range_or_zero<std::uint32_t>(int_value(feature::kHeight));
  meta.channels = in_range_or_zero<std::uint8_t>(int_value(feature::kChannels));
  const auto number = int_value(feature::kCodec);
  const auto codec = number && std::in_range<std::uint8_t>(*number)
                         ? codec_from_number(static_cast<std::uint8_t>(*number))
                         : std::nullopt;
  meta.codec = codec ? *codec : codec_from_format_feature(text_value(feature::kFormat));
  const auto checksum = int_value(feature::kChecksum);
  meta.checksum =
      checksum ? static_cast<std::uint64_t>(*checksum) : record_checksum(decoded_.payload, decoded_.segments);
}

bool ExampleDecoder::read_fields() {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto feature = features_.find(field_names_[i]);
    if (!feature) return false;
    if (fields_[i].type == FieldType::bytes) {
      const auto values = read_bytes_values(*feature);
      if (!values || values->other_kind || values->count != 1) return false;
      field_values_[i] = as_text(values->last);
    } else {
      if (!read_numbers(*feature, fields_[i], numbers_[i])) return false;
      field_values_[i] = numbers_[i];
    }
  }
  decoded_.fields = field_values_;
  return true;
}

bool ExampleDecoder::read_numbers(Bytes feature, const FieldSpec& field, std::string& value) {
  const std::uint64_t elements = field.elements();
  if (feature.size() / 11 > elements + kMaxScalarFeatureBytes) return false;  // an integer takes up to 11 bytes
  if (!message_->feature.ParseFromArray(feature.data(), static_cast<int>(feature.size()))) return false;
  // Views are little-endian packed elements, which is how the lists lie in memory.
  const auto copy = [&](const auto& list) {
    if (static_cast<std::uint64_t>(list.size()) != elements) return false;
    value = as_text(std::as_bytes(std::span(list.data(), static_cast<std::size_t>(list.size()))));
    return true;
  };
  return field.type == FieldType::int64 ? copy(message_->feature.int64_list().value())
                                        : copy(message_->feature.float_list().value());
}

std::optional<Bytes> ExampleDecoder::bytes_value(std::string_view name) const noexcept {
  const auto feature = features_.find(name);
  if (!feature) return std::nullopt;
  const auto values = read_bytes_values(*feature);
  if (!values || values->other_kind || values->count != 1) return std::nullopt;
  return values->last;
}

std::string_view ExampleDecoder::text_value(std::string_view name) const noexcept {
  return as_text(bytes_value(name).value_or(Bytes{}));
}

std::optional<std::int64_t> ExampleDecoder::int_value(std::string_view name) {
  const auto feature = features_.find(name);
  if (!feature || feature->size() > kMaxScalarFeatureBytes) return std::nullopt;
  if (!message_->feature.ParseFromArray(feature->data(), static_cast<int>(feature->size()))) return std::nullopt;
  if (message_->feature.int64_list().value_size() != 1) return std::nullopt;
  return message_->feature.int64_list().value(0);
}

}  // namespace imgpack
