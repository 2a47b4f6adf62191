#include "formats/hdf5/file_index.h"

#include <array>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/dataset_json.h"
#include "formats/hdf5/layout.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/metadata_check.h"
#include "formats/hdf5/storage.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack::hdf5 {

namespace {

/// Asks libhdf5. REQUIRES: a Session for its whole life.
class IndexReader {
 public:
  explicit IndexReader(const MappedFile& file)
      : file_(file), storage_(file.bytes()), connection_(storage_, Connection::Mode::read) {
    if (!connection_.valid()) {
      fail(ErrorCode::damaged, fmt::format("it is not a whole HDF5 file (libhdf5 says: {})", connection_.refusal()));
    }
  }

  FileIndex read() {
    FileIndex index;
    accounted_ = kSuperblockSize + header_bytes("/");
    index.others.push_back(read_info(index.info));
    add_payloads(index);
    index.others.push_back(dataset({.path = kClasses, .type = H5I_INVALID_HID, .element = {}}));
    for (const Column column : plain_columns()) {
      if (column != Column::payload_bounds || !index.raw_shape) add_column(index, column);
    }
    const std::size_t fields = index.info.fields.size();
    for (std::size_t i = 0; i < fields; ++i) {
      add_column(index, field_values_column(i));
      add_column(index, field_bounds_column(i));
    }
    for (const char* group : {kFields, kFieldOffsets}) {
      if (has(group)) accounted_ += header_bytes(group);
    }
    index.accounted_bytes = accounted_;
    return index;
  }

 private:
  [[noreturn]] void fail(ErrorCode code, std::string message) const {
    throw Error(code, std::move(message), in_file(file_.path()));
  }

  [[noreturn]] void fail_in_library(std::string_view what) const {
    fail(ErrorCode::damaged, fmt::format("{} (libhdf5 says: {})", what, error_text()));
  }

  /// Whether there is an object of that name in this very file: links that lead elsewhere do not count.
  bool has(const std::string& path) const {
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
      if (!has_link(path.substr(0, end))) return false;
    }
    return has_link(path);
  }

  bool has_link(const std::string& path) const {
    const htri_t exists = H5Lexists(connection_.file(), path.c_str(), H5P_DEFAULT);
    if (exists < 0) fail_in_library("its list of objects is damaged");
    if (exists == 0) return false;
    H5L_info_t info;
    if (H5Lget_info(connection_.file(), path.c_str(), &info, H5P_DEFAULT) < 0) {
      fail_in_library("its list of objects is damaged");
    }
    return info.type == H5L_TYPE_HARD;
  }

  std::uint64_t header_bytes(const std::string& path) const {
#if H5_VERSION_GE(1, 12, 0)
    H5O_native_info_t info;
    const herr_t result =
        H5Oget_native_info_by_name(connection_.file(), path.c_str(), &info, H5O_NATIVE_INFO_HDR, H5P_DEFAULT);
#else
    H5O_info_t info;
    const herr_t result = H5Oget_info_by_name2(connection_.file(), path.c_str(), &info, H5O_INFO_HDR, H5P_DEFAULT);
#endif
    if (result < 0) fail_in_library(fmt::format("the header of its object '{}' is damaged", path));
    return info.hdr.space.total;
  }

  StoredDataset read_info(DatasetInfo& info) {
    if (!has(kInfo)) {
      fail(ErrorCode::unsupported,
           "it is an HDF5 file, but not one that imgpack wrote: there is no dataset 'imgpack' in it");
    }
    check_version();
    StoredDataset stored = dataset({.path = kInfo, .type = H5T_STD_U8LE, .element = {}});
    if (checksum_of(stored.bytes) != stored.digest)
      fail(ErrorCode::damaged, "the dataset's description has been changed");
    info =
        dataset_info_from_json({reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size()}, file_.path());
    try {
      check_fields(info.fields);
    } catch (const Error& error) {
      fail(ErrorCode::damaged, error.message());
    }
    return stored;
  }

  void check_version() const {
    const DatasetHandle object(H5Dopen2(connection_.file(), kInfo, H5P_DEFAULT));
    if (!object.valid()) fail_in_library("its dataset 'imgpack' cannot be opened");
    const auto version = attribute(object.get(), kVersionAttribute, H5T_STD_U32LE);
    if (!version)
      fail(ErrorCode::unsupported, "it is an HDF5 file, but its dataset 'imgpack' is not of imgpack's making");
    if (*version != kFormatVersion) {
      fail(ErrorCode::unsupported,
           fmt::format("it has version {} of imgpack's HDF5 format; this program knows version {}", *version,
                       kFormatVersion));
    }
  }

  void add_payloads(FileIndex& index) {
    if (has(kEncoded) || !has(kImages)) {
      index.payloads = dataset({.path = kEncoded, .type = H5T_STD_U8LE, .element = {}});
      return;
    }
    const RawShape shape = read_raw_shape();
    index.payloads = dataset({.path = kImages, .type = H5T_STD_U8LE, .element = {shape.height, shape.width, kColours}});
    index.raw_shape = shape;
    if (index.payloads.rows != index.info.records) {
      fail(ErrorCode::damaged, fmt::format("its dataset '{}' has {} images where there are {} records", kImages,
                                           index.payloads.rows, index.info.records));
    }
  }

  /// What the dimensions of `images` behind the first one say.
  RawShape read_raw_shape() const {
    const DatasetHandle object(H5Dopen2(connection_.file(), kImages, H5P_DEFAULT));
    if (!object.valid()) fail_in_library(fmt::format("its dataset '{}' cannot be opened", kImages));
    const SpaceHandle space(H5Dget_space(object.get()));
    std::array<hsize_t, H5S_MAX_RANK> dimensions{};
    const auto is_side = [](hsize_t size) { return size >= 1 && size <= RawShape::kMaxSide; };
    if (H5Sget_simple_extent_ndims(space.get()) != 4 ||
        H5Sget_simple_extent_dims(space.get(), dimensions.data(), nullptr) != 4 || !is_side(dimensions[1]) ||
        !is_side(dimensions[2]) || dimensions[3] != kColours) {
      fail(ErrorCode::damaged, fmt::format("its dataset '{}' has another shape than it should", kImages));
    }
    return {.height = static_cast<std::uint32_t>(dimensions[1]), .width = static_cast<std::uint32_t>(dimensions[2])};
  }

  void add_column(FileIndex& index, Column column) {
    const std::vector<FieldSpec>& fields = index.info.fields;
    const DatasetSpec spec = dataset_spec(column, fields, index.info.records);
    if (has(spec.path)) index.columns.emplace(column, dataset(spec));
  }

  /// REQUIRES: spec.type is invalid for `classes`, which may be strings of any length.
  StoredDataset dataset(const DatasetSpec& spec) {
    if (!has(spec.path)) fail(ErrorCode::damaged, fmt::format("its dataset '{}' is missing", spec.path));
    accounted_ += header_bytes(spec.path);
    const DatasetHandle object(H5Dopen2(connection_.file(), spec.path.c_str(), H5P_DEFAULT));
    if (!object.valid()) fail_in_library(fmt::format("its dataset '{}' cannot be opened", spec.path));
    check_layout(object.get(), spec);
    StoredDataset stored;
    stored.path = spec.path;
    check_shape(object.get(), spec, stored);
    place(object.get(), stored);
    if (!holds_payloads(spec)) {
      stored.digest = attribute(object.get(), kDigestAttribute, H5T_STD_U64LE);
      if (!stored.digest) fail(ErrorCode::damaged, fmt::format("its dataset '{}' has no digest", spec.path));
    }
    accounted_ += stored.bytes.size();
    return stored;
  }

  static bool holds_payloads(const DatasetSpec& spec) {
    return spec.path == kEncoded || spec.path == kImages;
  }

  void check_layout(hid_t object, const DatasetSpec& spec) const {
    const PropertiesHandle properties(H5Dget_create_plist(object));
    if (!properties.valid()) fail_in_library(fmt::format("its dataset '{}' cannot be read", spec.path));
    if (H5Pget_layout(properties.get()) != H5D_CONTIGUOUS || H5Pget_external_count(properties.get()) != 0 ||
        H5Pget_nfilters(properties.get()) != 0) {
      fail(ErrorCode::unsupported,
           fmt::format("its dataset '{}' is not stored contiguously and unfiltered in the file itself", spec.path));
    }
  }

  /// Fills rows and row_size.
  void check_shape(hid_t object, const DatasetSpec& spec, StoredDataset& stored) const {
    const TypeHandle type(H5Dget_type(object));
    const bool right_type = spec.type >= 0
                                ? H5Tequal(type.get(), spec.type) > 0
                                : H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0;
    if (!right_type)
      fail(ErrorCode::damaged, fmt::format("its dataset '{}' has another type than it should", spec.path));
    const SpaceHandle space(H5Dget_space(object));
    std::array<hsize_t, H5S_MAX_RANK> dimensions{};
    const int rank = H5Sget_simple_extent_ndims(space.get());
    bool right_shape = rank == static_cast<int>(1 + spec.element.size()) &&
                       H5Sget_simple_extent_dims(space.get(), dimensions.data(), nullptr) == rank;
    std::uint64_t size = H5Tget_size(type.get());
    for (std::size_t i = 0; right_shape && i < spec.element.size(); ++i) {
      right_shape = dimensions[i + 1] == spec.element[i];
      size *= spec.element[i];  // check_fields() and RawShape::kMaxSide bound the product
    }
    if (!right_shape || size == 0 || (size > kMaxFieldBytes && !holds_payloads(spec))) {
      fail(ErrorCode::damaged, fmt::format("its dataset '{}' has another shape than it should", spec.path));
    }
    stored.rows = dimensions[0];
    stored.row_size = size;
  }

  /// Fills offset and bytes.
  void place(hid_t object, StoredDataset& stored) const {
    if (stored.rows == 0) return;
    const haddr_t offset = H5Dget_offset(object);
    if (offset == HADDR_UNDEF || offset > file_.size() || stored.rows > (file_.size() - offset) / stored.row_size ||
        H5Dget_storage_size(object) != stored.rows * stored.row_size) {
      fail(ErrorCode::damaged, fmt::format("its dataset '{}' does not lie whole in the file", stored.path));
    }
    stored.offset = offset;
    stored.bytes = file_.bytes().subspan(offset, stored.rows * stored.row_size);
  }

  /// The value of a scalar attribute of an unsigned type of at most 64 bits; nothing if there is none such.
  std::optional<std::uint64_t> attribute(hid_t object, const char* name, hid_t type) const {
    const htri_t exists = H5Aexists(object, name);
    if (exists < 0) fail_in_library(fmt::format("the attribute '{}' cannot be read", name));
    if (exists == 0) return std::nullopt;
    const AttributeHandle handle(H5Aopen(object, name, H5P_DEFAULT));
    const TypeHandle stored(H5Aget_type(handle.get()));
    const SpaceHandle space(H5Aget_space(handle.get()));
    if (H5Tequal(stored.get(), type) <= 0 || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
    std::uint64_t value = 0;
    if (H5Aread(handle.get(), H5T_NATIVE_UINT64, &value) < 0) {
      fail_in_library(fmt::format("the attribute '{}' cannot be read", name));
    }
    return value;
  }

  const MappedFile& file_;
  MemoryStorage storage_;
  Connection connection_;
  std::uint64_t accounted_ = 0;
};

}  // namespace

FileIndex read_file_index(const MappedFile& file) {
  check_metadata(file.bytes(), file.path());
  const Session session;
  return IndexReader(file).read();
}

}  // namespace imgpack::hdf5
