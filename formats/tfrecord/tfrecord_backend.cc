// Writing: frames go into OUT.partial as records come; OUT.idx and the index are written from the log at the end.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/dataset_json.h"
#include "formats/tfrecord/crc32c.h"
#include "formats/tfrecord/example.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/index_file.h"
#include "formats/tfrecord/side_files.h"
#include "formats/tfrecord/tfrecord_format.h"
#include "mmap/append_file.h"
#include "mmap/mapped_file.h"
#include "mmap/publish.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;

bool contains(const Frame& frame, std::uint64_t offset, std::uint64_t size) noexcept {
  const std::uint64_t begin = frame.offset + kFrameHeaderBytes;
  return offset >= begin && offset - begin <= frame.data.size() && size <= frame.data.size() - (offset - begin);
}

/// Whether the frame at row.frame_offset is the one that put() wrote for `row`.
bool is_intact(std::span<const std::byte> file, const LogRow& row, Frame& frame) noexcept {
  if (row.frame_offset > file.size() || read_frame(file, row.frame_offset, frame) != FrameStatus::ok) return false;
  if (frame.size != row.frame_size || !contains(frame, row.payload_offset, row.meta.payload_size)) return false;
  std::span<const std::byte> segments;
  if (row.meta.segments_size > 0) {
    if (!contains(frame, row.segments_offset, row.meta.segments_size)) return false;
    segments = file.subspan(row.segments_offset, row.meta.segments_size);
  }
  return record_checksum(file.subspan(row.payload_offset, row.meta.payload_size), segments) == row.meta.checksum;
}

/// The description that goes into the first record: what is known before any record is.
std::string dataset_feature(const DatasetInfo& info) {
  DatasetInfo known;
  known.classes = info.classes;
  for (const Split& split : info.splits) known.splits.push_back({.name = split.name, .begin = 0, .end = 0});
  known.fields = info.fields;
  known.transform = info.transform;
  known.source_kind = info.source_kind;
  known.source_name = info.source_name;
  known.tool_version = info.tool_version;
  known.metadata = info.metadata;
  std::string json = dataset_info_to_json(known);
  if (json.size() > kMaxDatasetFeatureBytes) json.clear();
  return json;
}

class TfrecordBackend final : public StoreBackend {
 public:
  explicit TfrecordBackend(BackendContext context)
      : context_(std::move(context)),
        idx_(side_file(context_.final_path, kIdxSuffix)),
        index_(side_file(context_.final_path, kIndexSuffix)),
        encoder_(context_.info.fields),
        dataset_(dataset_feature(context_.info)) {
    // A resumed writer may find everything published already: then there is no partial file, and none may be made.
    if (context_.resume) return;
    file_ = File::open(context_.partial, File::Mode::create);
    start_at(0);
  }

  void put(std::uint64_t number, const Record& record, LogRow& row) override {
    const ExampleEncoder::Parts parts = encoder_.encode(record, extras(number, record));
    row.frame_offset = out_->position();
    out_->append(make_frame_header(parts.size));
    std::uint32_t crc = 0;
    const auto append = [&](std::span<const std::byte> part) {
      crc = crc32c(crc, part);
      out_->append(part);
    };
    append(parts.head);
    row.segments_offset = record.segments.empty() ? 0 : out_->position();
    append(record.segments);
    append(parts.middle);
    row.payload_offset = out_->position();
    append(record.payload);
    out_->append(make_frame_trailer(crc));
    row.frame_size = out_->position() - row.frame_offset;
    chain_ = next_chain(chain_, mask_crc(crc));
    out_->write_behind();
  }

  std::uint64_t recover(const File& log) override {
    std::uint64_t records = 0;
    std::uint64_t end = 0;
    chain_ = 0;
    file_ = File::open(context_.partial, File::Mode::open_or_create);
    {
      const MappedFile mapping = MappedFile::map(file_, Access::sequential);
      ReleaseBehind behind(mapping);
      RecordLogReader rows(log);
      for (auto kind = rows.next(); kind != RecordLogReader::Kind::end; kind = rows.next()) {
        if (kind != RecordLogReader::Kind::record) continue;
        Frame frame;
        if (rows.record().frame_offset != end || !is_intact(mapping.bytes(), rows.record(), frame)) break;
        chain_ = next_chain(chain_, frame.stored_crc);
        end += frame.size;
        ++records;
        behind.advance(end);
      }
    }
    start_at(end);
    return records;
  }

  void flush() override { out_->flush(); }

  void finish(const RecordLog& log, const DatasetInfo& info) override {
    out_->flush();
    file_.sync();
    write_idx(log);
    // Last, so that the index is never older than the data.
    File index = File::open(partial(index_), File::Mode::create);
    const fs::path folder = context_.final_path.parent_path();
    write_index_file(index, log, info, {.size = out_->position(), .chain = chain_}, folder.empty() ? "." : folder);
    index.sync();
    index.close();
    out_.reset();
    file_.close();
  }

  void discard() noexcept override {
    out_.reset();
    file_ = File();
    for (const Output& output : outputs()) remove_quietly(output.temporary);
  }

  std::vector<Output> outputs() const override {
    return {{partial(idx_), idx_}, {partial(index_), index_}, {context_.partial, context_.final_path}};
  }

 private:
  void start_at(std::uint64_t offset) { out_.emplace(file_, offset); }

  static fs::path partial(const fs::path& path) { return side_file(path, ".partial"); }

  ExampleExtras extras(std::uint64_t number, const Record& record) const {
    const DatasetInfo& info = context_.info;
    ExampleExtras extras;
    const std::int64_t label = record.meta.label;
    if (label >= 0 && std::cmp_less(label, info.classes.size()))
      extras.class_text = info.classes[static_cast<std::size_t>(label)].name;
    if (record.split < info.splits.size()) extras.split = info.splits[record.split].name;
    extras.chain = chain_;
    if (number == 0) extras.dataset = dataset_;
    return extras;
  }

  void write_idx(const RecordLog& log) {
    File file = File::open(partial(idx_), File::Mode::create);
    AppendFile out(file, 0);
    RecordLogReader rows(log.file());
    std::string line;
    for (auto kind = rows.next(); kind != RecordLogReader::Kind::end; kind = rows.next()) {
      if (kind != RecordLogReader::Kind::record) continue;
      format_idx_line(rows.record().frame_offset, rows.record().frame_size, line);
      out.append(std::as_bytes(std::span(line)));
    }
    out.flush();
    file.sync();
    file.close();
  }

  BackendContext context_;
  fs::path idx_;
  fs::path index_;
  ExampleEncoder encoder_;
  std::string dataset_;
  File file_;
  std::optional<AppendFile> out_;
  std::uint64_t chain_ = 0;  ///< of the next record
};

}  // namespace

std::unique_ptr<StoreBackend> create_tfrecord_backend(BackendContext context) {
  return std::make_unique<TfrecordBackend>(std::move(context));
}

}  // namespace imgpack
