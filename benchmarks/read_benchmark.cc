// Warm random reads of whole payloads from one thread: every format beside a plain memcpy of the same bytes and beside
// loose files.
//
//   read_benchmark FOLDER WORKDIR [passes]
//
// FOLDER is packed into WORKDIR in every format first. Each pass copies every record once, in a random order that is
// the same for all contestants, into one buffer; contestants take turns pass by pass, and the median pass counts. The
// baseline copies from an anonymous, touched block of memory at the places at which the rec file has the payloads.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "formats/backend.h"
#include "imgpack/build.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "mmap/file.h"

namespace fs = std::filesystem;
using namespace imgpack;

namespace {

class Contestant {
 public:
  explicit Contestant(std::string name) : name_(std::move(name)) {}
  virtual ~Contestant() = default;
  const std::string& name() const { return name_; }
  /// Copies record `record` to `out`; returns its size.
  virtual std::size_t copy(std::uint64_t record, std::byte* out) = 0;

  std::vector<double> seconds;

 private:
  std::string name_;
};

class Memory final : public Contestant {
 public:
  explicit Memory(const StoreReader& store) : Contestant("memcpy (baseline)") {
    const std::uint64_t begin = store.place(0).offset;
    const PayloadPlace last = store.place(store.size() - 1);
    bytes_.resize(last.offset + last.size - begin);
    for (std::uint64_t i = 0; i < store.size(); ++i) {
      const auto payload = store.bytes(i).payload;
      places_.emplace_back(store.place(i).offset - begin, payload.size());
      std::memcpy(bytes_.data() + places_.back().first, payload.data(), payload.size());
    }
  }
  std::size_t copy(std::uint64_t record, std::byte* out) override {
    const auto [offset, size] = places_[record];
    std::memcpy(out, bytes_.data() + offset, size);
    return size;
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::pair<std::uint64_t, std::size_t>> places_;
};

class Packed final : public Contestant {
 public:
  explicit Packed(const fs::path& path) : Contestant(""), store_(open_store(path)) {}
  std::size_t copy(std::uint64_t record, std::byte* out) override {
    const std::span<const std::byte> payload = store_->bytes(record).payload;
    std::memcpy(out, payload.data(), payload.size());
    return payload.size();
  }
  std::string label() const { return std::string(to_string(store_->format())); }

 private:
  std::unique_ptr<StoreReader> store_;
};

class Named final : public Contestant {
 public:
  Named(std::string name, std::unique_ptr<Packed> inner) : Contestant(std::move(name)), inner_(std::move(inner)) {}
  std::size_t copy(std::uint64_t record, std::byte* out) override { return inner_->copy(record, out); }

 private:
  std::unique_ptr<Packed> inner_;
};

class Loose final : public Contestant {
 public:
  Loose(const StoreReader& store, const fs::path& folder) : Contestant("loose files") {
    for (std::uint64_t i = 0; i < store.size(); ++i) paths_.push_back(folder / store.key(i));
  }
  std::size_t copy(std::uint64_t record, std::byte* out) override {
    const File file = File::open(paths_[record], File::Mode::read);
    const std::size_t size = file.size();
    file.read_at(0, {out, size});
    return size;
  }

 private:
  std::vector<fs::path> paths_;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: read_benchmark FOLDER WORKDIR [passes]\n");
    return 2;
  }
  const fs::path folder = argv[1];
  const fs::path work = argv[2];
  const int passes = argc > 3 ? std::stoi(argv[3]) : 15;
  fs::create_directories(work);

  std::vector<std::unique_ptr<Contestant>> contestants;
  std::unique_ptr<StoreReader> rec;
  for (const FormatEntry& entry : format_entries()) {
    const fs::path path = work / fmt::format("read.{}", to_string(entry.format));
    build(folder, path, {.format = entry.format, .on_error = OnError::skip, .overwrite = true});
    if (entry.format == Format::rec) {
      rec = open_store(path);
      contestants.push_back(std::make_unique<Memory>(*rec));
    }
    contestants.push_back(
        std::make_unique<Named>(std::string(to_string(entry.format)), std::make_unique<Packed>(path)));
  }
  contestants.push_back(std::make_unique<Loose>(*rec, folder));

  std::uint64_t largest = 0;
  std::uint64_t total = 0;
  std::vector<std::uint64_t> order(rec->size());
  for (std::uint64_t i = 0; i < rec->size(); ++i) {
    order[i] = i;
    largest = std::max(largest, rec->meta(i).payload_size);
    total += rec->meta(i).payload_size;
  }
  std::vector<std::byte> buffer(largest);
  std::mt19937_64 random(7);
  for (int pass = -2; pass < passes; ++pass) {  // the first two passes only warm up
    std::shuffle(order.begin(), order.end(), random);
    for (const auto& contestant : contestants) {
      const auto begin = std::chrono::steady_clock::now();
      std::uint64_t copied = 0;
      for (const std::uint64_t record : order) copied += contestant->copy(record, buffer.data());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      if (copied != total) throw Error(ErrorCode::damaged, contestant->name() + " delivered another number of bytes");
      if (pass >= 0) contestant->seconds.push_back(seconds);
    }
  }

  fmt::print("{} records, {:.1f} MB, median of {} passes\n", rec->size(), static_cast<double>(total) / 1e6, passes);
  fmt::print("{:<20} {:>10} {:>12} {:>16}\n", "", "GB/s", "us/record", "of the baseline");
  const double baseline = median(contestants.front()->seconds);
  for (const auto& contestant : contestants) {
    const double seconds = median(contestant->seconds);
    fmt::print("{:<20} {:>10.2f} {:>12.2f} {:>15.1f}%\n", contestant->name(),
               static_cast<double>(total) / seconds / 1e9, seconds / static_cast<double>(rec->size()) * 1e6,
               100 * baseline / seconds);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "read_benchmark: {}\n", error.what());
  return 1;
}
