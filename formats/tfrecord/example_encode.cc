#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include "formats/tfrecord/example.h"
#include "formats/tfrecord/example.pb.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack {
namespace {

using google::protobuf::io::CodedOutputStream;

// The head of a length-delimited field with a number below 16: tag and length. Not through a stream: protobuf's stream
// for strings fills their whole capacity with zeros each time.
void begin_field(std::string& out, std::uint8_t number, std::uint64_t size) {
  std::uint8_t head[11] = {static_cast<std::uint8_t>(number << 3 | 2)};
  const std::uint8_t* end = CodedOutputStream::WriteVarint64ToArray(size, head + 1);
  out.append(reinterpret_cast<const char*>(head), static_cast<std::size_t>(end - head));
}

// Size of such a field with its content.
std::uint64_t field_size(std::uint64_t content) noexcept {
  return 1 + CodedOutputStream::VarintSize64(content) + content;
}

// A NamedFeature with one bytes value, of which only what precedes the value is written: the caller puts the value
// behind it.
class BytesFeature {
 public:
  BytesFeature(std::string_view name, std::uint64_t value_size) noexcept
      : name_(name),
        value_size_(value_size),
        list_size_(field_size(value_size)),
        feature_size_(field_size(list_size_)),
        entry_size_(field_size(name.size()) + field_size(feature_size_)) {}

  /// The whole, as a field of Features, with the value.
  std::uint64_t size() const noexcept { return field_size(entry_size_); }

  void append_before_value(std::string& out) const {
    begin_field(out, 1, entry_size_);
    begin_field(out, 1, name_.size());
    out += name_;
    begin_field(out, 2, feature_size_);
    begin_field(out, 1, list_size_);
    begin_field(out, 1, value_size_);
  }

 private:
  std::string_view name_;
  std::uint64_t value_size_;
  std::uint64_t list_size_;
  std::uint64_t feature_size_;
  std::uint64_t entry_size_;
};

void refuse_if_too_large(std::uint64_t size) {
  if (size > kMaxExampleBytes)
    throw Error(ErrorCode::refused,
                fmt::format("the record takes {} bytes as a tf.train.Example; TFRecord readers take "
                            "at most {}",
                            size, kMaxExampleBytes));
}

std::span<const std::byte> bytes_of(const std::string& text) noexcept {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::string format_feature_text(Codec codec) {
  std::string text(to_string(codec));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

struct ExampleEncoder::Message {
  tfrecord::NamedFeature feature;
};

ExampleEncoder::ExampleEncoder(std::vector<FieldSpec> fields)
    : fields_(std::move(fields)), message_(std::make_unique<Message>()) {}

ExampleEncoder::~ExampleEncoder() = default;

ExampleEncoder::Parts ExampleEncoder::encode(const Record& record, const ExampleExtras& extras) {
  std::uint64_t values = record.payload.size() + record.segments.size() + record.key.size() + extras.dataset.size();
  for (const std::string_view value : record.fields) values += value.size();
  refuse_if_too_large(values);  // before anything of that size is copied
  small_.clear();
  write_small_features(record, extras);

  const BytesFeature segments(feature::kSegments, record.segments.size());
  const BytesFeature payload(feature::kEncoded, record.payload.size());
  const std::uint64_t features = small_.size() + (record.segments.empty() ? 0 : segments.size()) + payload.size();
  Parts parts;
  parts.size = field_size(features);
  refuse_if_too_large(parts.size);

  head_.clear();
  begin_field(head_, 1, features);
  head_ += small_;
  middle_.clear();
  if (record.segments.empty()) {
    payload.append_before_value(head_);
  } else {
    segments.append_before_value(head_);
    payload.append_before_value(middle_);
  }
  parts.head = bytes_of(head_);
  parts.middle = bytes_of(middle_);
  return parts;
}

void ExampleEncoder::write_small_features(const Record& record, const ExampleExtras& extras) {
  const RecordMeta& meta = record.meta;
  add_bytes(feature::kFormat, format_feature_text(meta.codec));
  add_int(feature::kLabel, meta.label);
  add_bytes(feature::kText, extras.class_text);
  add_bytes(feature::kFilename, record.key);
  add_int(feature::kHeight, meta.height);
  add_int(feature::kWidth, meta.width);
  add_int(feature::kChannels, meta.channels);
  add_int(feature::kCodec, static_cast<std::int64_t>(meta.codec));
  add_int(feature::kChecksum, static_cast<std::int64_t>(meta.checksum));
  if (extras.split) add_bytes(feature::kSplit, *extras.split);
  add_int(feature::kChain, static_cast<std::int64_t>(extras.chain));
  if (!extras.dataset.empty()) add_bytes(feature::kDataset, extras.dataset);
  for (std::size_t i = 0; i < fields_.size() && i < record.fields.size(); ++i) add_field(fields_[i], record.fields[i]);
}

void ExampleEncoder::add_bytes(std::string_view name, std::string_view value) {
  message_->feature.Clear();
  message_->feature.set_key(name.data(), name.size());
  message_->feature.mutable_value()->mutable_bytes_list()->add_value(value.data(), value.size());
  append_message();
}

void ExampleEncoder::add_int(std::string_view name, std::int64_t value) {
  message_->feature.Clear();
  message_->feature.set_key(name.data(), name.size());
  message_->feature.mutable_value()->mutable_int64_list()->add_value(value);
  append_message();
}

void ExampleEncoder::add_field(const FieldSpec& field, std::string_view value) {
  const std::string name = fmt::format("{}{}", feature::kFieldPrefix, field.name);
  if (field.type == FieldType::bytes) return add_bytes(name, value);
  const auto* at = reinterpret_cast<const std::byte*>(value.data());
  message_->feature.Clear();
  message_->feature.set_key(name);
  tfrecord::Feature& feature = *message_->feature.mutable_value();
  if (field.type == FieldType::int64) {
    auto& list = *feature.mutable_int64_list()->mutable_value();
    list.Reserve(static_cast<int>(value.size() / 8));
    for (std::size_t i = 0; i + 8 <= value.size(); i += 8) list.Add(load_le<std::int64_t>(at + i));
  } else {
    auto& list = *feature.mutable_float_list()->mutable_value();
    list.Resize(static_cast<int>(value.size() / 4), 0);
    std::ranges::copy(value.substr(0, value.size() / 4 * 4), reinterpret_cast<char*>(list.mutable_data()));
  }
  append_message();
}

void ExampleEncoder::append_message() {
  const std::size_t size = message_->feature.ByteSizeLong();
  begin_field(small_, 1, size);
  const std::size_t at = small_.size();
  small_.resize(at + size);
  message_->feature.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(small_.data() + at));
}

}  // namespace imgpack
