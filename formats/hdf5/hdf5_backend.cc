// Writing: payloads go to their place in the file as they come, and finish() lets libhdf5 make the file around them.
//
// Their dataset, `encoded` or `images`, is the first one of a file, so its offset depends on libhdf5 alone, and is
// found out by making the beginning of a file that goes nowhere.

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/dataset_json.h"
#include "formats/extent_recovery.h"
#include "formats/hdf5/file_writer.h"
#include "formats/hdf5/hdf5_format.h"
#include "formats/hdf5/layout.h"
#include "imgpack/error.h"
#include "mmap/append_file.h"
#include "mmap/paths.h"
#include "mmap/publish.h"

namespace imgpack {

namespace {

using namespace hdf5;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The first dataset of every file, with room for `records` payloads of `bytes` bytes in sum.
DatasetWriter create_payloads(FileWriter& file, const std::optional<RawShape>& shape, std::uint64_t records,
                              std::uint64_t bytes) {
  if (shape) return file.create_dataset(kImages, H5T_STD_U8LE, {records, shape->height, shape->width, kColours});
  return file.create_dataset(kEncoded, H5T_STD_U8LE, {bytes});
}

std::uint64_t find_payload_base(const std::filesystem::path& name, const std::optional<RawShape>& shape) {
  const Session session;
  NoStorage nowhere;
  FileWriter file(nowhere, name);
  const haddr_t offset = create_payloads(file, shape, 1, 1).offset();
  file.check(offset != HADDR_UNDEF, "place a dataset");
  file.close();
  return offset;
}

/// Columns as datasets.
class DatasetSink : public ColumnSink {
 public:
  DatasetSink(FileWriter& file, const std::vector<FieldSpec>& fields, std::uint64_t records)
      : file_(file), fields_(fields), records_(records) {}

  void begin(std::span<const Spec> columns) override {
    datasets_.reserve(columns.size());
    for (const Spec& column : columns) {
      const DatasetSpec spec = dataset_spec(column.column, fields_, records_);
      std::vector<hsize_t> dimensions = {column.count};
      dimensions.insert(dimensions.end(), spec.element.begin(), spec.element.end());
      datasets_.push_back(file_.create_dataset(spec.path, spec.type, std::move(dimensions)));
    }
  }
  void write(std::size_t index, std::span<const std::byte> bytes) override { datasets_[index].append(bytes); }
  void seal() {
    for (DatasetWriter& dataset : datasets_) dataset.seal();
  }

 private:
  FileWriter& file_;
  const std::vector<FieldSpec>& fields_;
  std::uint64_t records_;
  std::vector<DatasetWriter> datasets_;
};

void create_field_groups(FileWriter& file, const std::vector<FieldSpec>& fields) {
  if (fields.empty()) return;
  std::size_t name_bytes = 0;
  for (const FieldSpec& field : fields) name_bytes += link_name(field.name).size();
  const std::size_t mean = (name_bytes + fields.size() - 1) / fields.size() + 1;  // the character set takes a byte
  file.create_group(kFields, fields.size(), mean);
  const auto blobs = std::count_if(fields.begin(), fields.end(),
                                   [](const FieldSpec& field) { return field.type == FieldType::bytes; });
  if (blobs > 0) file.create_group(kFieldOffsets, static_cast<std::size_t>(blobs), mean);
}

void write_info(FileWriter& file, const DatasetInfo& info) {
  const std::string json = dataset_info_to_json(info);
  DatasetWriter dataset = file.create_dataset(kInfo, H5T_STD_U8LE, {json.size()});
  file.add_attribute(dataset.id(), kVersionAttribute, H5T_STD_U32LE, H5T_NATIVE_UINT32, &kFormatVersion);
  dataset.append(bytes_of(json));
  dataset.seal();
}

/// The longest prefix of `text` of at most `limit` bytes that does not end inside a UTF-8 sequence.
std::string_view cut_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return text.substr(0, limit);
}

void write_classes(FileWriter& file, const DatasetInfo& info) {
  std::size_t width = 1;
  for (const ClassInfo& entry : info.classes) width = std::max(width, cut_utf8(entry.name, kMaxClassName).size());
  const TypeHandle type(H5Tcopy(H5T_C_S1));
  file.check(H5Tset_size(type.get(), width) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0 &&
                 H5Tset_strpad(type.get(), H5T_STR_NULLPAD) >= 0,
             "describe a string");
  DatasetWriter dataset = file.create_dataset(kClasses, type.get(), {info.classes.size()});
  std::vector<std::byte> row(width);
  for (const ClassInfo& entry : info.classes) {
    const std::span<const std::byte> name = bytes_of(cut_utf8(entry.name, kMaxClassName));
    std::fill(std::copy(name.begin(), name.end(), row.begin()), row.end(), std::byte{0});
    dataset.append(row);
  }
  dataset.seal();
}

class Hdf5Backend final : public StoreBackend {
 public:
  explicit Hdf5Backend(BackendContext context)
      : context_(std::move(context)), payload_base_(find_payload_base(context_.partial, context_.options.raw_shape)) {
    if (context_.resume) return;
    file_ = File::open(context_.partial, File::Mode::create);
    start_at(payload_base_);
  }

  void put(std::uint64_t, const Record& record, LogRow& row) override {
    row.payload_offset = out_->position();
    row.segments = record.segments;
    out_->append(record.payload);
    out_->write_behind();
  }

  std::uint64_t recover(const File& log) override {
    file_ = File::open(context_.partial, File::Mode::open_or_create);
    // A row that places its payload elsewhere, as another libhdf5 would have done, ends the walk.
    const RecoveredExtent kept =
        recover_extents(log, file_, payload_base_, [](const LogRow& row, std::uint64_t end_before) {
          RecordExtent extent;
          extent.payload_offset = end_before;
          extent.end = end_before + row.meta.payload_size;
          return extent;
        });
    start_at(kept.end);
    // A superblock may already have been there.
    file_.write_at(0, std::vector<std::byte>(static_cast<std::size_t>(payload_base_)));
    return kept.records;
  }

  void flush() override { out_->flush(); }

  void finish(const RecordLog& log, const DatasetInfo& info) override {
    out_->flush();
    {
      const Session session;
      FileStorage storage(file_);
      FileWriter file(storage, context_.partial);
      write_objects(file, log, info, out_->position() - payload_base_);
      file.close();
    }
    out_.reset();
    file_.close();
  }

  void discard() noexcept override { remove_quietly(context_.partial); }

  std::vector<Output> outputs() const override {
    return {{.temporary = context_.partial, .final_path = context_.final_path}};
  }

 private:
  void start_at(std::uint64_t offset) { out_.emplace(file_, offset); }

  void write_objects(FileWriter& file, const RecordLog& log, const DatasetInfo& info, std::uint64_t payload_bytes) {
    const std::optional<RawShape>& shape = context_.options.raw_shape;
    if (shape && payload_bytes != log.records() * shape->bytes()) {
      throw Error(ErrorCode::damaged, "the interrupted build holds images of another size", in_file(context_.partial));
    }
    {
      // Its bytes are there already.
      const DatasetWriter payloads = create_payloads(file, shape, log.records(), payload_bytes);
      if (payload_bytes > 0 && payloads.offset() != payload_base_) {
        throw Error(ErrorCode::unsupported, "this version of libhdf5 does not place datasets where it said it would",
                    in_file(context_.partial));
      }
    }
    create_field_groups(file, info.fields);
    DatasetSink sink(file, info.fields, log.records());
    ColumnOptions options;
    options.payloads = shape ? PayloadColumns::none : PayloadColumns::bounds;
    options.segment_blob = true;
    options.work_dir = folder_of(context_.partial);
    write_columns(log, info, options, sink);
    sink.seal();
    write_classes(file, info);
    write_info(file, info);
  }

  BackendContext context_;
  std::uint64_t payload_base_;
  File file_;
  std::optional<AppendFile> out_;
};

}  // namespace

std::unique_ptr<StoreBackend> create_hdf5_backend(BackendContext context) {
  hdf5::check_fields(context.info.fields);
  return std::make_unique<Hdf5Backend>(std::move(context));
}

}  // namespace imgpack
