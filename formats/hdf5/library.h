// Using libhdf5 politely: one caller at a time, handles that close themselves, failures with the library's own words.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

namespace imgpack::hdf5 {

/// Exclusive use of libhdf5, whose usual build is not thread-safe. Every call into the library happens under a Session,
/// and handles must not outlive it. While it lasts, libhdf5 prints nothing. Not recursive.
///
/// fork() waits for a running session of another thread, so that a child finds the library whole and free.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t printer_ = nullptr;
  void* printer_data_ = nullptr;
};

/// What libhdf5 says about its last failure, the cause first; empty if it says nothing. At most a few hundred bytes.
std::string error_text();

/// An owned identifier, closed by `Close`. Move-only.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) noexcept : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  ~Handle() { reset(); }

  bool valid() const noexcept { return id_ >= 0; }
  hid_t get() const noexcept { return id_; }
  /// Gives the identifier away without closing it.
  hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }
  void reset() noexcept {
    if (id_ >= 0) Close(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

using FileHandle = Handle<H5Fclose>;
using GroupHandle = Handle<H5Gclose>;
using DatasetHandle = Handle<H5Dclose>;
using SpaceHandle = Handle<H5Sclose>;
using TypeHandle = Handle<H5Tclose>;
using AttributeHandle = Handle<H5Aclose>;
using PropertiesHandle = Handle<H5Pclose>;

}  // namespace imgpack::hdf5
