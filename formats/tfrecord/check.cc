#include "formats/tfrecord/check.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "formats/tfrecord/example.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/scan.h"
#include "formats/tfrecord/side_files.h"
#include "imgpack/error.h"

namespace imgpack {
namespace {

/// The columns of that many records are let go at a time, so that the resident set stays small.
constexpr std::uint64_t kReleaseRecords = 1u << 16;

/// Walks the frames that the columns name, which must cover the file without gaps.
class FrameChecker {
 public:
  FrameChecker(const FrameCheck& check, DamageSink& sink)
      : check_(check), file_(check.data.bytes()), sink_(sink), decoder_(check.info.fields) {}

  bool run() {
    const std::uint64_t records = check_.columns.records();
    ReleaseBehind behind(check_.data);
    for (std::uint64_t record = 0; record < records; ++record) {
      try {
        if (!check_record(record)) return false;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::damaged) throw;
        if (!sink_.report({error.place().file, record, error.place().offset, error.message()})) return false;
      }
      behind.advance(std::min<std::uint64_t>(expected_offset_, file_.size()));
      if (record % kReleaseRecords == kReleaseRecords - 1)
        check_.columns.release(record + 1 - kReleaseRecords, kReleaseRecords);
    }
    if (expected_offset_ == file_.size()) return true;
    return report(std::nullopt, expected_offset_,
                  fmt::format("the file has {} bytes; its last frame ends at {}", file_.size(), expected_offset_));
  }

 private:
  bool report(std::optional<std::uint64_t> record, std::uint64_t offset, std::string what) {
    return sink_.report({check_.data.path().string(), record, offset, std::move(what)});
  }

  bool check_record(std::uint64_t record) {
    const std::uint64_t offset = check_.columns.frame_offset(record);
    const std::uint64_t size = check_.columns.frame_size(record);
    if (offset != expected_offset_ &&
        !report(record, expected_offset_,
                fmt::format("the index has the frame at {}, but the one before ends at {}", offset, expected_offset_)))
      return false;
    if (offset > file_.size() || size > file_.size() - offset)
      return report(record, offset, "the index has the frame outside the file");
    expected_offset_ = offset + size;

    Frame frame;
    const FrameStatus status = read_frame(file_.first(offset + size), offset, frame);
    const bool data_known = status == FrameStatus::ok || status == FrameStatus::bad_data_crc;
    const std::uint64_t chain = std::exchange(chain_, data_known ? next_chain(chain_, frame.stored_crc) : chain_);
    chain_known_ = std::exchange(next_chain_known_, data_known) && chain_known_;
    if (status != FrameStatus::ok) return report(record, offset, std::string(to_string(status)));
    if (frame.size != size)
      return report(record, offset, fmt::format("the frame has {} bytes, the index says {}", frame.size, size));
    return check_example(record, frame, chain);
  }

  bool check_example(std::uint64_t record, const Frame& frame, std::uint64_t chain) {
    const ExampleStatus status = decoder_.decode(frame.data);
    if (status != ExampleStatus::ok) return report(record, frame.offset, std::string(to_string(status)));
    const auto differs = [&](std::string_view what) {
      return report(record, frame.offset, fmt::format("the Example and the index differ in {}", what));
    };
    const DecodedExample& example = decoder_.decoded();
    const RecordMeta meta = check_.columns.meta(record);
    const auto offset_of = [&](std::span<const std::byte> part) {
      return static_cast<std::uint64_t>(part.data() - file_.data());
    };
    if (meta.label != example.meta.label && !differs("the label")) return false;
    if ((meta.width != example.meta.width || meta.height != example.meta.height ||
         meta.channels != example.meta.channels) &&
        !differs("the image's size"))
      return false;
    if (meta.codec != example.meta.codec && !differs("the codec")) return false;
    if (meta.checksum != example.meta.checksum && !differs("the checksum")) return false;
    if ((meta.payload_size != example.payload.size() ||
         check_.columns.payload_offset(record) != offset_of(example.payload)) &&
        !differs("where the payload lies"))
      return false;
    if ((meta.segments_size != example.segments.size() ||
         (meta.segments_size > 0 && check_.columns.segments_offset(record) != offset_of(example.segments))) &&
        !differs("where the segment index lies"))
      return false;
    if (!key_agrees(record, example) && !differs("the key")) return false;
    if (!fields_agree(record, example) && !differs("a user field")) return false;
    if (!class_agrees(example) && !differs("the class name")) return false;
    if (!split_agrees(record, example) && !differs("the split")) return false;
    if (check_.written_index && chain_known_ && example.chain != chain)
      return report(record, frame.offset, "the record does not follow the one before it: its chain value is another");
    return true;
  }

  /// A scan replaces keys that are missing or taken.
  bool key_agrees(std::uint64_t record, const DecodedExample& example) const {
    const std::string_view key = check_.columns.key(record);
    return example.key == key || (!check_.written_index && key == numbered_key(record));
  }

  bool fields_agree(std::uint64_t record, const DecodedExample& example) const {
    for (std::size_t i = 0; i < example.fields.size(); ++i)
      if (!std::ranges::equal(check_.columns.field(record, i), std::as_bytes(std::span(example.fields[i]))))
        return false;
    return true;
  }

  bool class_agrees(const DecodedExample& example) const {
    const auto& classes = check_.info.classes;
    const std::int64_t label = example.meta.label;
    const bool named = label >= 0 && std::cmp_less(label, classes.size());
    const std::string_view text = example.class_synset.empty() ? example.class_text : example.class_synset;
    if (check_.written_index)
      return text == (named ? std::string_view(classes[static_cast<std::size_t>(label)].name) : "");
    return text.empty() || !named || text == classes[static_cast<std::size_t>(label)].name;
  }

  bool split_agrees(std::uint64_t record, const DecodedExample& example) {
    const auto& splits = check_.info.splits;
    if (splits.empty()) return !check_.written_index || !example.split;
    const auto has_record = [record](const Split& split) { return split.begin <= record && record < split.end; };
    if (last_split_ >= splits.size() || !has_record(splits[last_split_]))
      last_split_ = static_cast<std::size_t>(std::ranges::find_if(splits, has_record) - splits.begin());
    if (last_split_ == splits.size()) return !example.split;
    return example.split == splits[last_split_].name;
  }

  const FrameCheck& check_;
  std::span<const std::byte> file_;
  DamageSink& sink_;
  ExampleDecoder decoder_;
  std::uint64_t expected_offset_ = 0;
  std::uint64_t chain_ = 0;
  bool chain_known_ = true;  ///< every frame before this one had a readable CRC
  bool next_chain_known_ = true;
  std::size_t last_split_ = 0;
};

}  // namespace

bool check_frames(const FrameCheck& check, DamageSink& sink) {
  return FrameChecker(check, sink).run();
}

bool check_idx_file(const std::filesystem::path& idx, const ColumnTable& columns, DamageSink& sink) {
  const auto report = [&](std::optional<std::uint64_t> record, std::uint64_t offset, std::string what) {
    return sink.report({idx.string(), record, offset, std::move(what)});
  };
  std::error_code error;
  if (!std::filesystem::exists(idx, error))
    return report(std::nullopt, 0, "the index for DALI is missing; imgpack convert writes the dataset anew with one");
  const MappedFile file = MappedFile::open(idx, Access::sequential);
  const std::span<const std::byte> bytes = file.bytes();
  std::string line;
  std::uint64_t offset = 0;
  for (std::uint64_t record = 0; record < columns.records(); ++record, offset += line.size()) {
    format_idx_line(columns.frame_offset(record), columns.frame_size(record), line);
    const std::span<const std::byte> rest = bytes.subspan(offset);
    if (rest.size() < line.size() || std::memcmp(rest.data(), line.data(), line.size()) != 0)
      return report(record, offset,
                    "the line is not the frame's offset and size; the lines behind it were not looked at");
    if (record % kReleaseRecords == kReleaseRecords - 1) columns.release(record + 1 - kReleaseRecords, kReleaseRecords);
  }
  return offset == bytes.size() || report(std::nullopt, offset, "there is something behind the last line");
}

}  // namespace imgpack
