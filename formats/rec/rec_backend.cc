#include <optional>
#include <utility>

#include "formats/extent_recovery.h"
#include "formats/rec/rec_file.h"
#include "formats/rec/rec_format.h"
#include "mmap/append_file.h"
#include "mmap/paths.h"
#include "mmap/publish.h"

namespace imgpack {

namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

class RecBackend final : public StoreBackend {
 public:
  explicit RecBackend(BackendContext context) : context_(std::move(context)) {
    if (context_.resume) return;
    file_ = File::open(context_.partial, File::Mode::create);
    start_at(rec::kDataOffset);
  }

  void put(std::uint64_t, const Record& record, LogRow& row) override {
    out_->pad_to(context_.options.alignment);
    row.payload_offset = out_->position();
    out_->append(record.payload);
    if (!record.segments.empty()) {
      out_->pad_to(kSegmentsAlignment);
      row.segments_offset = out_->position();
      out_->append(record.segments);
    }
    out_->write_behind();
  }

  std::uint64_t recover(const File& log) override {
    file_ = File::open(context_.partial, File::Mode::open_or_create);
    const RecoveredExtent kept =
        recover_extents(log, file_, rec::kDataOffset, [this](const LogRow& row, std::uint64_t end_before) {
          RecordExtent extent;
          extent.payload_offset = align_up(end_before, context_.options.alignment);
          extent.end = extent.payload_offset + row.meta.payload_size;
          if (row.meta.segments_size != 0) {
            extent.segments_in_file = true;
            extent.segments_offset = align_up(extent.end, kSegmentsAlignment);
            extent.end = extent.segments_offset + row.meta.segments_size;
          }
          return extent;
        });
    start_at(kept.end);
    file_.write_at(0, std::vector<std::byte>(rec::kDataOffset));  // a header may already have been there
    return kept.records;
  }

  void flush() override { out_->flush(); }

  void finish(const RecordLog& log, const DatasetInfo& info) override {
    out_->append(std::vector<std::byte>(rec::kDataTail));
    out_->flush();
    rec::IndexOptions options;
    options.alignment = context_.options.alignment;
    options.data_offset = rec::kDataOffset;
    options.data_size = out_->position() - rec::kDataOffset;
    options.columns.work_dir = folder_of(context_.partial);
    rec::write_index(file_, log, info, options);
    out_.reset();
    file_.close();
  }

  void discard() noexcept override { remove_quietly(context_.partial); }

  std::vector<Output> outputs() const override {
    return {{.temporary = context_.partial, .final_path = context_.final_path}};
  }

 private:
  void start_at(std::uint64_t offset) { out_.emplace(file_, offset); }

  BackendContext context_;
  File file_;
  std::optional<AppendFile> out_;
};

}  // namespace

std::unique_ptr<StoreBackend> create_rec_backend(BackendContext context) {
  return std::make_unique<RecBackend>(std::move(context));
}

}  // namespace imgpack
