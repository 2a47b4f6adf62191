#include "mmap/publish.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mmap/paths.h"
#include "mmap/system_error.h"

namespace imgpack {

namespace {

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = folder_of(path);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw system_error(errno, "open", folder);
  const File owner(descriptor, folder);
  // Some network file systems cannot sync a folder and say so with EINVAL.
  if (::fsync(descriptor) != 0 && errno != EINVAL) throw system_error(errno, "sync", folder);
}

/// rename() that never replaces. Falls back on link() where the file system lacks RENAME_NOREPLACE.
void rename_new(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) throw system_error(errno, "publish", to);
  if (::link(from.c_str(), to.c_str()) != 0) throw system_error(errno, "publish", to);
  ::unlink(from.c_str());
}

}  // namespace

void publish_file(const std::filesystem::path& temporary, const std::filesystem::path& final_path, bool overwrite) {
  {
    const File file = File::open(temporary, File::Mode::read_write);
    int result;
    do {
      result = ::fsync(file.descriptor());
    } while (result != 0 && errno == EINTR);
    if (result != 0) throw system_error(errno, "sync", temporary);
  }
  if (!overwrite) {
    rename_new(temporary, final_path);
  } else if (::rename(temporary.c_str(), final_path.c_str()) != 0) {
    throw system_error(errno, "publish", final_path);
  }
  sync_folder_of(final_path);
}

void remove_quietly(const std::filesystem::path& path) noexcept {
  ::unlink(path.c_str());
}

LockedFile LockedFile::acquire(const std::filesystem::path& path) {
  while (true) {
    File file = File::open(path, File::Mode::open_or_create);
    if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) {
        throw Error(ErrorCode::busy, "another process is building this output (it holds the lock on this file)",
                    in_file(path));
      }
      throw system_error(errno, "lock", path);
    }
    // The previous holder may have removed the name between our open and our lock: then we hold a file nobody will
    // find.
    struct stat ours {};
    struct stat named {};
    if (::fstat(file.descriptor(), &ours) != 0) throw system_error(errno, "stat", path);
    if (::stat(path.c_str(), &named) == 0) {
      if (ours.st_dev == named.st_dev && ours.st_ino == named.st_ino) return LockedFile(std::move(file));
    } else if (errno != ENOENT) {
      throw system_error(errno, "stat", path);
    }
  }
}

void LockedFile::remove() noexcept {
  remove_quietly(file_.path());
}

}  // namespace imgpack
