#include "mmap/page_cache.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mmap/mapped_file.h"
#include "mmap/system_error.h"

namespace imgpack {

Residency page_cache_residency(const std::filesystem::path& path) {
  const MappedFile file = MappedFile::open(path);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uint64_t kPagesPerCall = 1u << 16;
  std::vector<unsigned char> resident(kPagesPerCall);
  Residency result{.resident_bytes = 0, .total_bytes = file.size()};
  for (std::uint64_t offset = 0; offset < file.size(); offset += kPagesPerCall * page) {
    const std::uint64_t size = std::min(kPagesPerCall * page, file.size() - offset);
    auto* begin = const_cast<std::byte*>(file.bytes().data() + offset);
    if (::mincore(begin, size, resident.data()) != 0) throw system_error(errno, "ask for the residency of", path);
    const std::uint64_t count = (size + page - 1) / page;
    for (std::uint64_t i = 0; i < count; ++i) {
      if ((resident[i] & 1) != 0) result.resident_bytes += std::min(page, file.size() - offset - i * page);
    }
  }
  return result;
}

void evict_from_page_cache(const std::filesystem::path& path) {
  File file = File::open(path, File::Mode::read);
  file.sync();
  const int result = ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  if (result != 0) throw system_error(result, "drop from the page cache", path);
}

}  // namespace imgpack
