#include "formats/hdf5/storage.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack::hdf5 {

/// What a Connection and the library's driver object share; either may go first.
struct Connection::Channel {
  Storage* storage = nullptr;  ///< null once the Connection is gone or a function failed
  std::exception_ptr failure;
  std::uint64_t initial_end = 0;
};

namespace {

/// Object headers, the only thing that is read through the library, are far smaller.
constexpr std::size_t kMaxRead = 16u << 20;
constexpr unsigned kRootLinks = 24;
constexpr unsigned kRootNameLength = 16;

/// What libhdf5 keeps of an open file. The first member is the library's own part.
struct DriverFile {
  H5FD_t library;
  std::shared_ptr<Connection::Channel> channel;
  haddr_t allocated;
  /// Where the file ends for the library. A file that is being created is empty at first, whatever lies there already.
  haddr_t end;
};

DriverFile* driver_file(H5FD_t* file) noexcept {
  return reinterpret_cast<DriverFile*>(file);
}
const DriverFile* driver_file(const H5FD_t* file) noexcept {
  return reinterpret_cast<const DriverFile*>(file);
}

/// Runs `action` on the storage. After a failure nothing more is done. Returns `on_failure` then.
template <typename Action>
herr_t guarded(H5FD_t* file, herr_t on_failure, Action&& action) noexcept {
  Connection::Channel& channel = *driver_file(file)->channel;
  if (channel.storage == nullptr) return on_failure;
  try {
    action(*channel.storage);
    return 0;
  } catch (...) {
    channel.failure = std::current_exception();
    channel.storage = nullptr;
    return on_failure;
  }
}

H5FD_t* driver_open(const char*, unsigned, hid_t access, haddr_t) noexcept {
  const auto* channel = static_cast<const std::shared_ptr<Connection::Channel>* const*>(H5Pget_driver_info(access));
  if (channel == nullptr || *channel == nullptr) return nullptr;
  try {
    return &(new DriverFile{{}, **channel, 0, (**channel)->initial_end})->library;
  } catch (...) {
    return nullptr;
  }
}

herr_t driver_close(H5FD_t* file) noexcept {
  delete driver_file(file);
  return 0;
}

herr_t driver_query(const H5FD_t*, unsigned long* flags) noexcept {
  // No aggregation, no sieve: everything lies where it is allocated and is written when it is written.
  if (flags != nullptr) *flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t driver_get_eoa(const H5FD_t* file, H5FD_mem_t) noexcept {
  return driver_file(file)->allocated;
}

herr_t driver_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) noexcept {
  driver_file(file)->allocated = address;
  return 0;
}

haddr_t driver_get_eof(const H5FD_t* file, H5FD_mem_t) noexcept {
  return driver_file(file)->end;
}

herr_t driver_read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) noexcept {
  return guarded(file, -1, [&](Storage& storage) { storage.read(address, {static_cast<std::byte*>(buffer), size}); });
}

herr_t driver_write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* data) noexcept {
  return guarded(file, 0, [&](Storage& storage) {
    storage.write(address, {static_cast<const std::byte*>(data), size});
    driver_file(file)->end = std::max<haddr_t>(driver_file(file)->end, address + size);
  });
}

herr_t driver_truncate(H5FD_t* file, hid_t, hbool_t) noexcept {
  return guarded(file, 0, [&](Storage& storage) {
    const haddr_t allocated = driver_file(file)->allocated;
    storage.resize(allocated);
    driver_file(file)->end = allocated;
  });
}

herr_t driver_lock(H5FD_t*, hbool_t) noexcept {
  return 0;
}

herr_t driver_unlock(H5FD_t*) noexcept {
  return 0;
}

hid_t driver() {
  static const H5FD_class_t description = [] {
    H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 2)
    c.version = H5FD_CLASS_VERSION;
    c.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 73);
#endif
    c.name = "imgpack";
    c.maxaddr = std::numeric_limits<std::int64_t>::max();
    c.fc_degree = H5F_CLOSE_STRONG;
    c.fapl_size = sizeof(const std::shared_ptr<Connection::Channel>*);
    c.open = driver_open;
    c.close = driver_close;
    c.query = driver_query;
    c.get_eoa = driver_get_eoa;
    c.set_eoa = driver_set_eoa;
    c.get_eof = driver_get_eof;
    c.read = driver_read;
    c.write = driver_write;
    c.truncate = driver_truncate;
    c.lock = driver_lock;
    c.unlock = driver_unlock;
    std::fill(std::begin(c.fl_map), std::end(c.fl_map), H5FD_MEM_DEFAULT);
    return c;
  }();
  // Registered once a life of the library: somebody may call H5close(), after which identifiers mean nothing.
  static hid_t id = H5I_INVALID_HID;
  if (id < 0 || H5Iget_type(id) != H5I_VFL) id = H5FDregister(&description);
  return id;
}

PropertiesHandle access_properties(const std::shared_ptr<Connection::Channel>& channel, Connection::Mode mode) {
  PropertiesHandle access(H5Pcreate(H5P_FILE_ACCESS));
  const auto* info = &channel;
  const bool create = mode == Connection::Mode::create;
  const bool set = H5Pset_driver(access.get(), driver(), &info) >= 0 &&
                   // The 1.8 format: checksums on all metadata, and readable by everything since.
                   (!create || H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0) &&
                   H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) >= 0 &&
                   H5Pset_meta_block_size(access.get(), 0) >= 0 && H5Pset_small_data_block_size(access.get(), 0) >= 0;
  if (!set) throw Error(ErrorCode::unsupported, fmt::format("this libhdf5 cannot be set up: {}", error_text()));
  return access;
}

PropertiesHandle creation_properties() {
  PropertiesHandle creation(H5Pcreate(H5P_FILE_CREATE));
  const bool set = H5Pset_obj_track_times(creation.get(), 0) >= 0 &&
                   H5Pset_link_phase_change(creation.get(), 65535, 65535) >= 0 &&
                   H5Pset_est_link_info(creation.get(), kRootLinks, kRootNameLength) >= 0;
  if (!set) throw Error(ErrorCode::unsupported, fmt::format("this libhdf5 cannot be set up: {}", error_text()));
  return creation;
}

}  // namespace

void MemoryStorage::read(std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() > kMaxRead || offset > bytes_.size() || out.size() > bytes_.size() - offset) {
    throw Error(ErrorCode::damaged, "its HDF5 metadata point outside the file");
  }
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
}

void MemoryStorage::write(std::uint64_t, std::span<const std::byte>) {
  throw Error(ErrorCode::invalid_argument, "libhdf5 writes to a file that is open for reading");
}

void MemoryStorage::resize(std::uint64_t) {
  throw Error(ErrorCode::invalid_argument, "libhdf5 resizes a file that is open for reading");
}

void FileStorage::read(std::uint64_t offset, std::span<std::byte> out) {
  const std::size_t got = file_.read_some_at(offset, out);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(got), out.end(), std::byte{0});
}

void NoStorage::read(std::uint64_t, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
}

Connection::Connection(Storage& storage, Mode mode) : channel_(std::make_shared<Channel>()) {
  channel_->storage = &storage;
  channel_->initial_end = mode == Mode::read ? storage.size() : 0;
  const PropertiesHandle access = access_properties(channel_, mode);
  const PropertiesHandle creation = creation_properties();
  file_ = FileHandle(mode == Mode::read ? H5Fopen("imgpack", H5F_ACC_RDONLY, access.get())
                                        : H5Fcreate("imgpack", H5F_ACC_TRUNC, creation.get(), access.get()));
  // Now or never: the next call of the library clears it.
  if (!file_.valid()) refusal_ = error_text();
}

Connection::~Connection() {
  channel_->storage = nullptr;
}

void Connection::rethrow_failure() const {
  if (channel_->failure) std::rethrow_exception(channel_->failure);
}

bool Connection::close() {
  const herr_t result = H5Fclose(file_.release());
  rethrow_failure();
  return result >= 0;
}

}  // namespace imgpack::hdf5
