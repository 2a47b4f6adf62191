// Growth with the number of records: time to open, to read one record, and memory, of rec files with tiny payloads.
//
//   scale_benchmark WORKDIR COUNT...
//
// Every step runs in a process of its own, whose peak resident memory (VmHWM) is printed. Opening and reading are
// measured in a process that has just started, on a file in the page cache. Allocations are counted by replacing
// operator new.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "imgpack/store.h"
#include "imgpack/verify.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace fs = std::filesystem;
using namespace imgpack;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::uint64_t peak_resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      std::uint64_t value = 0;
      status >> value;
      return value;
    }
  }
  return 0;
}

void in_own_process(const std::function<void()>& step) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      step();
    } catch (const std::exception& error) {
      fmt::print("  failed: {}\n", error.what());
    }
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

void write(const fs::path& path, std::uint64_t count) {
  const auto begin = Clock::now();
  DatasetInfo info;
  for (int i = 0; i < 1000; ++i) info.classes.push_back({.name = fmt::format("n{:08d}", i), .words = ""});
  info.splits = {{.name = "train", .begin = 0, .end = 0}};
  const auto writer = StoreWriter::create(path, info, {.overwrite = true, .expected_records = count});
  std::string key;
  std::byte payload[16] = {};
  for (std::uint64_t i = 0; i < count; ++i) {
    key = fmt::format("train/n{:08d}/n{:08d}_{}.JPEG", i % 1000, i % 1000, i);
    Record record;
    record.key = key;
    record.payload = payload;
    record.meta.label = static_cast<std::int64_t>(i % 1000);
    record.meta.width = record.meta.height = 1;
    record.meta.codec = Codec::jpeg;
    record.describe();
    writer->append(record);
  }
  writer->finish();
  fmt::print("  write:  {:8.2f} s   {:6.1f} MB resident at most, file {:.1f} MB\n", since(begin),
             static_cast<double>(peak_resident_kib()) / 1024, static_cast<double>(fs::file_size(path)) / 1e6);
}

void open_and_read(const fs::path& path, std::uint64_t count) {
  auto begin = Clock::now();
  const auto store = open_store(path);
  const double open = since(begin);
  begin = Clock::now();
  const std::uint64_t record = count / 2 + count / 7;
  const RecordBytes bytes = store->bytes(record);
  const RecordMeta meta = store->meta(record);
  const bool good = record_checksum(bytes.payload, bytes.segments) == meta.checksum && !store->key(record).empty();
  const double read = since(begin);
  begin = Clock::now();
  const bool found = store->find(store->key(record)) == record;
  const double find = since(begin);
  const std::uint64_t before = allocations;
  std::uint64_t sum = 0;
  begin = Clock::now();
  for (std::uint64_t i = 0; i < 100'000; ++i) sum += store->bytes(i * 7919 % count).payload.size();
  const double many = since(begin);
  const std::uint64_t allocated = allocations - before;
  fmt::print(
      "  open:   {:8.3f} ms; first record {:.4f} ms ({}); first lookup by key {:.3f} ms ({}); then {:.0f} ns a record, "
      "{} allocations in 100,000 reads{}; {:.1f} MB resident\n",
      open * 1e3, read * 1e3, good ? "right" : "WRONG", find * 1e3, found ? "right" : "WRONG", many * 1e4, allocated,
      sum == 0 ? "?" : "", static_cast<double>(peak_resident_kib()) / 1024);
}

void check(const fs::path& path) {
  const auto begin = Clock::now();
  const VerifyReport report = verify(path, {});
  fmt::print("  verify: {:8.2f} s   {:6.1f} MB resident at most, {} records, {} damaged\n", since(begin),
             static_cast<double>(peak_resident_kib()) / 1024, report.records, report.damage_count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: scale_benchmark WORKDIR COUNT...\n");
    return 2;
  }
  fs::create_directories(argv[1]);
  const fs::path path = fs::path(argv[1]) / "scale.rec";
  for (int i = 2; i < argc; ++i) {
    const std::uint64_t count = std::stoull(argv[i]);
    fmt::print("{} records\n", count);
    in_own_process([&] { write(path, count); });
    in_own_process([&] { open_and_read(path, count); });
    in_own_process([&] { check(path); });
  }
  fs::remove(path);
  return 0;
}
