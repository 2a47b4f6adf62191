// Small packed datasets and what loaders make of them, for the loader's tests.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "imgpack/loader.h"
#include "tests/support/files.h"

namespace imgpack::testing {

/// 51 JPEGs of three classes in "train", 15 in "val", of different sizes, some of them gray.
class PackedImages {
 public:
  explicit PackedImages(Format format = Format::rec);
  const std::filesystem::path& path() const { return path_; }
  Dataset open() const { return Dataset::open(path_); }
  static constexpr std::uint64_t kTrain = 51;
  static constexpr std::uint64_t kVal = 15;

 private:
  TempDir dir_;
  std::filesystem::path path_;
};

/// Overwrites the first bytes of a record's payload.
void damage_record(const std::filesystem::path& path, std::uint64_t record);

/// All that a sample of a batch is.
struct SeenSample {
  std::uint64_t record = 0;
  std::uint32_t dataset = 0;
  std::int64_t label = 0;
  bool counts = true;            ///< the mask
  std::uint64_t pixels = 0;      ///< digest of its image
  std::uint64_t soft_label = 0;  ///< digest
  bool operator==(const SeenSample&) const = default;
};
using SeenBatch = std::vector<SeenSample>;

SeenBatch look_at(const Batch& batch);
/// All that is left of an epoch.
std::vector<SeenBatch> look_at(Epoch epoch);

/// Before a fork, with address sanitizer: waits until all other threads of this process sleep. Unlike glibc's, its
/// allocator does not give its locks back in the child, so none may be held when that begins. Does nothing otherwise.
void let_allocator_rest();

/// Runs `action` in a child and returns its result. A child that hangs is killed by its alarm.
int in_child(const auto& action) {
  let_allocator_rest();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int result = 99;
    try {
      result = action();
    } catch (...) {
    }
    _exit(result);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/// Crop, flip and normalise to 24x24 float32: quick, and with every kind of randomness.
LoaderOptions small_options(std::uint32_t batch_size = 8);

}  // namespace imgpack::testing
