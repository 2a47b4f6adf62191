#include "reader/gpu/gds_files.h"

#include <cerrno>
#include <utility>

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "mmap/paths.h"
#include "mmap/system_error.h"
#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

File open_direct(const std::filesystem::path& path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  // Not every file system can bypass the page cache; cuFile says whether it accepts that.
  if (descriptor < 0 && errno == EINVAL) descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw system_error(errno, "open", path);
  return File(descriptor, path);
}

/// cuFile uses the context that is the thread's current one for the driver; the runtime makes its own that only when it
/// is told to.
void make_context_current() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaSetDevice(device), "choosing a device");
}

/// What a read that failed says: -1 and errno, which may also be one of cuFile's codes, or such a code negated.
std::string words_of_failure(ssize_t got, int error, const std::filesystem::path& file) {
  constexpr int kFirstCufileError = 5000;
  if (got != -1) return words_of({.code = static_cast<int>(-got)});
  if (error > kFirstCufileError) return words_of({.code = error});
  return system_error(error, "read", file).message();
}

ErrorPlace place_of(const PayloadPlace& place, std::uint64_t done = 0) {
  return {.file = place.file->native(), .record = place.record, .offset = place.offset + done};
}

}  // namespace

GdsBuffer::GdsBuffer(std::shared_ptr<const CufileApi> api, std::byte* device, std::size_t bytes)
    : api_(std::move(api)), device_(device) {
  const CufileError error = api_->buffer_register(device, bytes, 0);
  if (error.code != 0) {
    throw Error(ErrorCode::io, fmt::format("registering {} bytes of device memory: {}", bytes, words_of(error)));
  }
}

GdsBuffer::~GdsBuffer() {
  (void)api_->buffer_deregister(device_);
}

std::unique_ptr<GdsFiles> GdsFiles::open() {
  return std::unique_ptr<GdsFiles>(new GdsFiles(CufileApi::open()));
}

GdsFiles::~GdsFiles() {
  for (const auto& [path, file] : files_) api_->handle_deregister(file.handle);
}

std::unique_ptr<GdsBuffer> GdsFiles::register_buffer(std::byte* device, std::size_t bytes) const {
  return std::make_unique<GdsBuffer>(api_, device, bytes);
}

const GdsFiles::OpenFile& GdsFiles::open_file(const PayloadPlace& place) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(*place.file);
  if (found != files_.end()) return found->second;
  File file = open_direct(*place.file);
  if (file.identity() != FileIdentity{place.device, place.inode}) {
    throw Error(ErrorCode::io, "another file has taken its place since the dataset was opened", in_file(*place.file));
  }
  CufileDescription description;
  description.handle.descriptor = file.descriptor();
  void* handle = nullptr;
  const CufileError error = api_->handle_register(&handle, &description);
  if (error.code != 0) throw Error(ErrorCode::io, words_of(error), in_file(*place.file));
  const std::uint64_t size = file.size();
  return files_.emplace(*place.file, OpenFile{std::move(file), size, handle}).first->second;
}

void GdsFiles::read(const PayloadPlace& place, std::byte* device, std::size_t device_offset) {
  make_context_current();
  const OpenFile& file = open_file(place);
  if (place.offset > file.size || place.size > file.size - place.offset) {
    throw Error(ErrorCode::damaged, "the file ends before the record does", place_of(place));
  }
  for (std::uint64_t done = 0; done < place.size;) {
    const ssize_t got = api_->read(file.handle, device, static_cast<std::size_t>(place.size - done),
                                   static_cast<off_t>(place.offset + done), static_cast<off_t>(device_offset + done));
    if (got > 0) {
      done += static_cast<std::uint64_t>(got);
    } else if (got == 0) {
      throw Error(ErrorCode::damaged, "the file ends before the record does", place_of(place, done));
    } else if (got != -1 || errno != EINTR) {
      throw Error(ErrorCode::io, words_of_failure(got, errno, *place.file), place_of(place, done));
    }
  }
}

}  // namespace imgpack::gpu
