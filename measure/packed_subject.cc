// A packed dataset of any format.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/tfrecord/side_files.h"
#include "measure/look_at.h"
#include "measure/packed_images.h"
#include "measure/subject.h"
#include "mmap/paths.h"
#include "reader/record_error.h"

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

/// The files of a store and what belongs to them.
void add_files(const StoreReader& store, std::vector<fs::path>& files) {
  for (const auto& part : store.parts()) add_files(*part, files);
  if (!store.parts().empty()) return;
  files.push_back(store.path());
  for (const std::string_view suffix : {kIdxSuffix, kIndexSuffix}) {
    const fs::path beside = with_suffix(store.path(), suffix);
    if (path_kind(beside) == PathKind::file) files.push_back(beside);
  }
}

class OpenPacked final : public OpenSubject {
 public:
  OpenPacked(const std::string& name, const std::string& split) : images_(name, split) {}

  const Dataset& dataset() const noexcept { return images_.dataset(); }
  std::uint64_t size() const noexcept override { return images_.size(); }
  RecordBytes read(std::uint64_t index, ByteBuffer& /*unused*/) const override {
    return images_.store().bytes(images_.record(index));
  }
  RecordMeta meta(std::uint64_t index, const RecordBytes& /*unused*/) const override {
    return images_.store().meta(images_.record(index));
  }
  void expect(std::uint64_t first, std::uint64_t count) const override {
    if (first < size()) images_.store().prefetch(images_.record(first), count);
  }
  Error error(std::uint64_t index, const ImageResult& result) const override {
    return record_error(images_.store(), images_.record(index), result);
  }

 private:
  PackedImages images_;
};

class PackedSubject final : public Subject {
 public:
  PackedSubject(const std::string& name, std::string split) : split_(std::move(split)) {
    const OpenPacked opened(name, split_);
    name_ = name;
    kind_ = to_string(opened.dataset().store().format());
    size_ = opened.size();
    add_files(opened.dataset().store(), files_);
    storage_ = storage_of(files_.front());
  }

  std::string dataloader() const override { return fmt::format("imgpack ({})", kind_); }
  std::unique_ptr<OpenSubject> open() const override { return std::make_unique<OpenPacked>(name_, split_); }
  std::uint64_t read_first() const override {
    const OpenPacked opened(name_, split_);
    ByteBuffer unused;
    return look_at(opened.read(0, unused).payload);
  }
  std::unique_ptr<BatchStream> batches(const BatchStreamOptions& options) const override {
    return stream_of(Dataset::open(name_), split_, options);
  }

 private:
  std::string split_;
};

}  // namespace

std::unique_ptr<Subject> open_packed_subject(const std::string& name, const std::string& split) {
  return std::make_unique<PackedSubject>(name, split);
}

}  // namespace imgpack::measure
