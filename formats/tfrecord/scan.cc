#include "formats/tfrecord/scan.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/dataset_json.h"
#include "formats/key_sorter.h"
#include "formats/text.h"
#include "formats/tfrecord/dataset_guess.h"
#include "formats/tfrecord/frame.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

Error frame_error(FrameStatus status, const fs::path& file, std::uint64_t record, std::uint64_t offset) {
  return Error(ErrorCode::damaged, std::string(to_string(status)),
               {.file = file.string(), .record = record, .offset = offset});
}

/// A log in a nameless file.
ScannedRecords make_log(const fs::path& work_dir) {
  ScannedRecords result;
  result.log_file = std::make_unique<File>(File::temporary(work_dir));
  result.log = std::make_unique<RecordLog>(RecordLog::start(*result.log_file, "tfrecord scan"));
  return result;
}

/// What the first record says about the dataset; nothing in files that others wrote.
DatasetInfo read_description(const MappedFile& data) {
  Frame frame;
  if (read_frame(data.bytes(), 0, frame) != FrameStatus::ok) return {};
  ExampleDecoder decoder({});
  if (decoder.decode(frame.data) != ExampleStatus::ok || decoder.decoded().dataset.empty()) return {};
  return dataset_info_from_json(decoder.decoded().dataset, data.path());
}

/// Visits the numbers of all records whose key an earlier record has, in no particular order.
template <typename Visit>
void visit_duplicates(KeySorter& keys, Visit&& visit) {
  std::optional<KeyHash> previous;
  keys.visit([&](KeyHash hash, std::uint64_t record) {
    if (previous == hash) visit(record);
    previous = hash;
  });
}

class Scanner {
 public:
  Scanner(const MappedFile& data, const fs::path& work_dir)
      : data_(data),
        work_dir_(work_dir),
        result_(make_log(work_dir)),
        keys_(work_dir),
        decoder_(read_description_fields()),
        classes_(result_.info.classes),
        splits_(result_.info.splits) {}

  ScannedRecords run() {
    ReleaseBehind behind(data_);
    std::uint64_t offset = 0;
    for (std::uint64_t record = 0; offset < data_.size(); ++record) {
      Frame frame;
      const FrameStatus status = read_frame(data_.bytes(), offset, frame);
      if (status != FrameStatus::ok) throw frame_error(status, data_.path(), record, offset);
      add(record, frame);
      offset += frame.size;
      behind.advance(offset);
    }
    make_keys_unique();
    result_.log->flush();
    describe();
    return std::move(result_);
  }

 private:
  std::vector<FieldSpec> read_description_fields() {
    result_.info = read_description(data_);
    return result_.info.fields;
  }

  void add(std::uint64_t record, const Frame& frame) {
    const ExampleStatus status = decoder_.decode(frame.data);
    if (status != ExampleStatus::ok) throw example_error(status, data_.path(), record, frame.offset);
    const DecodedExample& example = decoder_.decoded();
    classes_.add(example.meta.label, example.class_text, example.class_synset);

    const std::string number = numbered_key(record);
    LogRow row;
    row.meta = example.meta;
    row.split = splits_.add(record, example.split);
    row.payload_offset = offset_of(example.payload);
    row.segments_offset = example.segments.empty() ? 0 : offset_of(example.segments);
    row.frame_offset = frame.offset;
    row.frame_size = frame.size;
    row.key = example.key && is_utf8(*example.key) ? *example.key : number;
    row.fields = example.fields;
    result_.log->append(row);
    keys_.add(hash_key(row.key), record);
    result_.chain = next_chain(result_.chain, frame.stored_crc);
  }

  std::uint64_t offset_of(std::span<const std::byte> part) const noexcept {
    return static_cast<std::uint64_t>(part.data() - data_.bytes().data());
  }

  /// Records whose key an earlier one has get their number instead; if a key was such a number, all get theirs.
  void make_keys_unique() {
    KeySorter duplicates(work_dir_);
    std::uint64_t count = 0;
    visit_duplicates(keys_, [&](std::uint64_t record) {
      duplicates.add({.high = 0, .low = record}, record);
      ++count;
    });
    if (count == 0) return;
    KeySorter new_keys(work_dir_);
    rewrite_keys(
        [&](const auto& replace) { duplicates.visit([&](KeyHash, std::uint64_t record) { replace(record); }); },
        new_keys);
    bool clash = false;
    visit_duplicates(new_keys, [&](std::uint64_t) { clash = true; });
    if (!clash) return;
    const std::uint64_t records = result_.log->records();
    KeySorter unused(work_dir_);
    rewrite_keys(
        [&](const auto& replace) {
          for (std::uint64_t record = 0; record < records; ++record) replace(record);
        },
        unused);
  }

  /// Copies the log, with their numbers as keys of the records that `visit` calls its argument for, in ascending order.
  template <typename Visit>
  void rewrite_keys(Visit&& visit, KeySorter& new_keys) {
    result_.log->flush();
    ScannedRecords rewritten = make_log(work_dir_);
    RecordLogReader rows(result_.log->file());
    std::uint64_t next = 0;
    const auto copy_one = [&](bool numbered) {
      if (rows.next() != RecordLogReader::Kind::record) return false;
      const std::string number = numbered_key(next);
      LogRow row = rows.record();
      if (numbered) row.key = number;
      rewritten.log->append(row);
      new_keys.add(hash_key(row.key), next);
      ++next;
      return true;
    };
    visit([&](std::uint64_t record) {
      while (next < record && copy_one(false)) {
      }
      copy_one(true);
    });
    while (copy_one(false)) {
    }
    if (next != result_.log->records())
      throw Error(ErrorCode::io, "the temporary log of the scan could not be read back",
                  {.file = data_.path().string(), .record = next, .offset = {}});
    result_.log = std::move(rewritten.log);
    result_.log_file = std::move(rewritten.log_file);
  }

  void describe() {
    const LogTotals& totals = result_.log->totals();
    DatasetInfo& info = result_.info;
    info.classes = classes_.take();
    info.splits = splits_.take();
    info.records = totals.records;
    info.payload_bytes = totals.payload_bytes;
    info.pixels = totals.pixels;
    info.content_digest = totals.content_digest.value(info.splits);
    if (info.source_kind.empty()) info.source_kind = "tfrecord";
  }

  const MappedFile& data_;
  const fs::path& work_dir_;
  ScannedRecords result_;
  KeySorter keys_;
  ExampleDecoder decoder_;
  ClassGuess classes_;
  SplitGuess splits_;
};

}  // namespace

std::string numbered_key(std::uint64_t record) {
  return fmt::format("{:08}", record);
}

Error example_error(ExampleStatus status, const fs::path& file, std::uint64_t record, std::uint64_t frame_offset) {
  return Error(is_unsupported(status) ? ErrorCode::unsupported : ErrorCode::damaged, std::string(to_string(status)),
               {.file = file.string(), .record = record, .offset = frame_offset});
}

ScannedRecords scan_tfrecord(const MappedFile& data, const fs::path& work_dir) {
  return Scanner(data, work_dir).run();
}

}  // namespace imgpack
