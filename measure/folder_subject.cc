// A folder of image files.
#include <utility>

#include "imgpack/error.h"
#include "measure/look_at.h"
#include "measure/loose_files.h"
#include "measure/loose_loader.h"
#include "measure/subject.h"
#include "mmap/paths.h"

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

/// Shares the list of names, which takes long to make, with the subject.
class OpenFolder final : public OpenSubject {
 public:
  explicit OpenFolder(std::shared_ptr<const std::vector<LooseFile>> list) : list_(std::move(list)) {}

  std::uint64_t size() const noexcept override { return list_->size(); }
  RecordBytes read(std::uint64_t index, ByteBuffer& buffer) const override {
    return {.payload = read_image((*list_)[index].path, buffer), .segments = {}};
  }
  RecordMeta meta(std::uint64_t index, const RecordBytes& bytes) const override {
    return describe_image((*list_)[index], bytes.payload);
  }
  void expect(std::uint64_t /*first*/, std::uint64_t /*count*/) const override {
    // To read a file ahead it would have to be opened: no reader of folders does that.
  }
  Error error(std::uint64_t index, const ImageResult& result) const override {
    return image_error((*list_)[index].path, result);
  }

 private:
  std::shared_ptr<const std::vector<LooseFile>> list_;
};

class FolderSubject final : public Subject {
 public:
  FolderSubject(const std::string& name, fs::path folder)
      : folder_(std::move(folder)), list_(std::make_shared<const std::vector<LooseFile>>(list_images(folder_))) {
    name_ = name;
    kind_ = "folder";
    size_ = list_->size();
    for (const LooseFile& file : *list_) files_.push_back(file.path);
    storage_ = storage_of(files_.front());
  }

  std::string dataloader() const override { return "loose files (thread pool)"; }
  std::unique_ptr<OpenSubject> open() const override { return std::make_unique<OpenFolder>(list_); }
  std::uint64_t read_first() const override {
    const std::vector<LooseFile> list = list_images(folder_);
    ByteBuffer buffer;
    return look_at(read_image(list.front().path, buffer));
  }
  std::unique_ptr<BatchStream> batches(const BatchStreamOptions& options) const override {
    return std::make_unique<LooseLoader>(list_, options);
  }

 private:
  fs::path folder_;
  std::shared_ptr<const std::vector<LooseFile>> list_;
};

}  // namespace

std::unique_ptr<Subject> open_folder_subject(const std::string& name, const std::string& split) {
  const fs::path folder = split.empty() ? fs::path(name) : fs::path(name) / split;
  if (path_kind(folder) != PathKind::folder) {
    throw Error(ErrorCode::not_found, "there is no split " + split + ": no folder of that name", in_file(name));
  }
  return std::make_unique<FolderSubject>(name, folder);
}

std::unique_ptr<Subject> open_subject(const std::string& name, const std::string& split) {
  return path_kind(name) == PathKind::folder ? open_folder_subject(name, split) : open_packed_subject(name, split);
}

}  // namespace imgpack::measure
