#include "measure/cold_cache.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "measure/storage_kind.h"
#include "mmap/mapped_file.h"
#include "tests/support/files.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;
using testing::write_file;

constexpr std::size_t kBytes = 300'001;

/// A folder on the disk that the program was built on: temporary files may lie in memory.
class FolderOnDisk {
 public:
  FolderOnDisk() : path_(fs::canonical("/proc/self/exe").parent_path() / fmt_name()) { fs::create_directories(path_); }
  ~FolderOnDisk() { fs::remove_all(path_); }
  FolderOnDisk(const FolderOnDisk&) = delete;
  FolderOnDisk& operator=(const FolderOnDisk&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  static std::string fmt_name() { return "cold_cache_test." + std::to_string(::getpid()); }
  fs::path path_;
};

/// Asked of the system itself, not of the code under test.
std::size_t resident_pages(const fs::path& file) {
  const MappedFile mapped = MappedFile::open(file);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((mapped.size() + page - 1) / page);
  REQUIRE(::mincore(const_cast<std::byte*>(mapped.bytes().data()), mapped.size(), resident.data()) == 0);
  std::size_t count = 0;
  for (const unsigned char flags : resident) count += flags & 1U;
  return count;
}

}  // namespace

TEST_CASE("files on disk leave the page cache") {
  const FolderOnDisk folder;
  const std::vector<fs::path> files = {folder / "a", folder / "b", folder / "empty"};
  if (storage_of(files.front().parent_path()).kind == StorageKind::memory) {
    FAIL("the build folder lies in memory: this test needs one on a disk");
  }
  write_file(files[0], std::string(kBytes, 'a'));
  write_file(files[1], std::string(kBytes, 'b'));
  write_file(files[2], "");
  CHECK(residency_of(files).resident_bytes == 2 * kBytes);

  const Eviction eviction = evict(files);
  CHECK(eviction.before.resident_bytes == 2 * kBytes);
  CHECK(eviction.before.total_bytes == 2 * kBytes);
  CHECK(eviction.after.resident_bytes == 0);
  CHECK(eviction.after.total_bytes == 2 * kBytes);
  CHECK(eviction.obstacle.empty());
  CHECK(eviction.complete());
  CHECK(resident_pages(files[0]) == 0);
  CHECK(resident_pages(files[1]) == 0);
}

TEST_CASE("what is mapped stays, and is told") {
  const FolderOnDisk folder;
  const std::vector<fs::path> files = {folder / "mapped"};
  write_file(files[0], std::string(kBytes, 'm'));
  const MappedFile mapped = MappedFile::open(files[0]);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kBytes; i += 1024) sum += std::to_integer<std::size_t>(mapped.bytes()[i]);
  REQUIRE(sum != 0);
  const Eviction eviction = evict(files);
  CHECK_FALSE(eviction.complete());
  CHECK(eviction.after.resident_bytes > 0);
  CHECK(eviction.obstacle.find("mapped") != std::string::npos);
}

TEST_CASE("files in memory cannot be evicted, and that is told") {
  const fs::path file = "/dev/shm/imgpack_cold_cache_test." + std::to_string(::getpid());
  write_file(file, std::string(kBytes, 's'));
  const Eviction eviction = evict(std::vector<fs::path>{file});
  fs::remove(file);
  CHECK_FALSE(eviction.complete());
  CHECK(eviction.after.resident_bytes == kBytes);
  CHECK(eviction.obstacle.find("tmpfs") != std::string::npos);
}

TEST_CASE("a file that is not there is an error") {
  CHECK_THROWS_AS(evict(std::vector<fs::path>{"/nonexistent/file"}), Error);
}

}  // namespace imgpack::measure
