// Files whose bytes go from the disk into device memory, by GPUDirect Storage where the system has it, and otherwise
// the way that cuFile's compatibility mode takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "imgpack/store.h"
#include "mmap/file.h"
#include "reader/gpu/cufile_api.h"

namespace imgpack::gpu {

/// Device memory that cuFile reads into without a copy. Without it, reads go through buffers of the library's own.
class GdsBuffer {
 public:
  /// REQUIRES: the memory is of the current device and outlives this. Throws io.
  GdsBuffer(std::shared_ptr<const CufileApi> api, std::byte* device, std::size_t bytes);
  ~GdsBuffer();
  GdsBuffer(const GdsBuffer&) = delete;
  GdsBuffer& operator=(const GdsBuffer&) = delete;

 private:
  std::shared_ptr<const CufileApi> api_;
  std::byte* device_;
};

/// Thread-safe. Files are opened when they are first read and stay open. Must be destroyed when no read is under way,
/// and in the process that made it.
class GdsFiles {
 public:
  /// Throws unsupported where this system has no cuFile; the message says what is missing.
  static std::unique_ptr<GdsFiles> open();
  ~GdsFiles();
  GdsFiles(const GdsFiles&) = delete;
  GdsFiles& operator=(const GdsFiles&) = delete;

  std::unique_ptr<GdsBuffer> register_buffer(std::byte* device, std::size_t bytes) const;

  /// Reads the payload at `place` to `device` + `device_offset`, which has room for place.size bytes, and returns when
  /// it is there. `device`: memory of the current device, as registered or as allocated. Throws damaged if the file
  /// ended before when it was opened here, io if it can't be read or is another file than when the store was opened.
  void read(const PayloadPlace& place, std::byte* device, std::size_t device_offset);

 private:
  struct OpenFile {
    File file;
    std::uint64_t size = 0;
    void* handle = nullptr;
  };
  explicit GdsFiles(std::shared_ptr<const CufileApi> api) : api_(std::move(api)) {}
  const OpenFile& open_file(const PayloadPlace& place);

  std::shared_ptr<const CufileApi> api_;
  std::mutex mutex_;  ///< for the map, whose entries stay where they are
  std::map<std::filesystem::path, OpenFile> files_;
};

}  // namespace imgpack::gpu
