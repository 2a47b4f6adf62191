// Preloaded into a program, makes its disk slow: all its reads by pread() together get IMGPACK_SLOW_READS bytes a
// second.
#include <dlfcn.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using Read = ssize_t (*)(int, void*, std::size_t, off_t);

/// When the disk is done with everything that was asked of it.
void wait_for_disk(ssize_t bytes) {
  static std::mutex mutex;
  static Clock::time_point busy_until = Clock::now();
  static const char* const text = std::getenv("IMGPACK_SLOW_READS");
  static const double rate = text == nullptr ? 0 : std::atof(text);
  if (rate <= 0 || bytes <= 0) return;
  Clock::time_point done;
  {
    const std::lock_guard lock(mutex);
    busy_until =
        std::max(busy_until, Clock::now()) +
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(static_cast<double>(bytes) / rate));
    done = busy_until;
  }
  std::this_thread::sleep_until(done);
}

ssize_t read_slowly(const char* name, int descriptor, void* to, std::size_t bytes, off_t offset) {
  const auto next = reinterpret_cast<Read>(::dlsym(RTLD_NEXT, name));
  const ssize_t got = next(descriptor, to, bytes, offset);
  wait_for_disk(got);
  return got;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] ssize_t pread(int descriptor, void* to, std::size_t bytes, off_t offset) {
  return read_slowly("pread", descriptor, to, bytes, offset);
}
extern "C" [[gnu::visibility("default")]] ssize_t pread64(int descriptor, void* to, std::size_t bytes, off_t offset) {
  return read_slowly("pread64", descriptor, to, bytes, offset);
}
