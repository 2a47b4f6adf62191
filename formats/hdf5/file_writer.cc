#include "formats/hdf5/file_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/hdf5/layout.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack::hdf5 {

DatasetWriter::DatasetWriter(FileWriter& file, DatasetHandle dataset, TypeHandle type, std::vector<hsize_t> dimensions,
                             std::size_t row_size)
    : file_(&file),
      dataset_(std::move(dataset)),
      type_(std::move(type)),
      dimensions_(std::move(dimensions)),
      row_size_(row_size) {}

void DatasetWriter::append(std::span<const std::byte> bytes) {
  digest_.update(bytes);
  if (!partial_row_.empty()) {
    const std::size_t taken = std::min(bytes.size(), row_size_ - partial_row_.size());
    partial_row_.insert(partial_row_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (partial_row_.size() < row_size_) return;
    write_rows(partial_row_);
    partial_row_.clear();
  }
  const std::size_t rest = bytes.size() % row_size_;
  write_rows(bytes.first(bytes.size() - rest));
  partial_row_.assign(bytes.end() - static_cast<std::ptrdiff_t>(rest), bytes.end());
}

void DatasetWriter::write_rows(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::vector<hsize_t> start(dimensions_.size(), 0);
  std::vector<hsize_t> count = dimensions_;
  start[0] = rows_;
  count[0] = bytes.size() / row_size_;
  const SpaceHandle file_space(H5Dget_space(dataset_.get()));
  const SpaceHandle memory_space(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
  file_->check(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0,
               "select a part of a dataset");
  file_->check(
      H5Dwrite(dataset_.get(), type_.get(), memory_space.get(), file_space.get(), H5P_DEFAULT, bytes.data()) >= 0,
      "write a dataset");
  rows_ += count[0];
}

void DatasetWriter::seal() {
  if (rows_ != dimensions_[0]) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an HDF5 dataset of {} rows was given {}", dimensions_[0], rows_));
  }
  const std::uint64_t digest = digest_.value();
  file_->add_attribute(dataset_.get(), kDigestAttribute, H5T_STD_U64LE, H5T_NATIVE_UINT64, &digest);
}

haddr_t DatasetWriter::offset() const {
  return H5Dget_offset(dataset_.get());
}

FileWriter::FileWriter(Storage& storage, std::filesystem::path name)
    : name_(std::move(name)),
      connection_(storage, Connection::Mode::create),
      link_properties_(H5Pcreate(H5P_LINK_CREATE)) {
  connection_.rethrow_failure();
  if (!connection_.valid()) fail("create an HDF5 file", connection_.refusal());
  check(H5Pset_char_encoding(link_properties_.get(), H5T_CSET_UTF8) >= 0, "set the encoding of names");
}

DatasetWriter FileWriter::create_dataset(const std::string& path, hid_t type, std::vector<hsize_t> dimensions) {
  const SpaceHandle space(H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr));
  const PropertiesHandle properties(H5Pcreate(H5P_DATASET_CREATE));
  check(H5Pset_layout(properties.get(), H5D_CONTIGUOUS) >= 0 &&
            H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY) >= 0 &&
            H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER) >= 0 &&
            H5Pset_obj_track_times(properties.get(), 0) >= 0,
        "describe a dataset");
  DatasetHandle dataset(H5Dcreate2(connection_.file(), path.c_str(), type, space.get(), link_properties_.get(),
                                   properties.get(), H5P_DEFAULT));
  check(dataset.valid(), "create a dataset");
  std::size_t row_size = H5Tget_size(type);
  for (std::size_t i = 1; i < dimensions.size(); ++i) row_size *= static_cast<std::size_t>(dimensions[i]);
  return DatasetWriter(*this, std::move(dataset), TypeHandle(H5Tcopy(type)), std::move(dimensions), row_size);
}

void FileWriter::create_group(const std::string& path, std::size_t links, std::size_t name_length) {
  const PropertiesHandle properties(H5Pcreate(H5P_GROUP_CREATE));
  check(H5Pset_link_phase_change(properties.get(), 65535, 65535) >= 0 &&
            H5Pset_est_link_info(properties.get(), static_cast<unsigned>(links), static_cast<unsigned>(name_length)) >=
                0 &&
            H5Pset_obj_track_times(properties.get(), 0) >= 0,
        "describe a group");
  const GroupHandle group(
      H5Gcreate2(connection_.file(), path.c_str(), link_properties_.get(), properties.get(), H5P_DEFAULT));
  check(group.valid(), "create a group");
}

void FileWriter::add_attribute(hid_t object, const char* name, hid_t file_type, hid_t memory_type, const void* value) {
  const SpaceHandle space(H5Screate(H5S_SCALAR));
  const AttributeHandle attribute(H5Acreate2(object, name, file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  check(attribute.valid() && H5Awrite(attribute.get(), memory_type, value) >= 0, "write an attribute");
}

void FileWriter::close() {
  check(connection_.close(), "finish the file");
}

void FileWriter::check(bool succeeded, const char* what) const {
  connection_.rethrow_failure();
  if (!succeeded) fail(what, error_text());
}

void FileWriter::fail(const char* what, const std::string& reason) const {
  throw Error(ErrorCode::io, fmt::format("libhdf5 could not {}: {}", what, reason), in_file(name_));
}

}  // namespace imgpack::hdf5
