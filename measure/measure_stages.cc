#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "codec/jpeg/index_builder.h"
#include "measure/cold_cache.h"
#include "measure/look_at.h"
#include "measure/parallel_run.h"
#include "measure/stages.h"
#include "mmap/byte_buffer.h"
#include "mmap/unbuffered_file.h"
#include "reader/random/random_stream.h"
#include "reader/sampling/permutation.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;

/// Images in random orders without end, shared by threads.
class SharedOrder {
 public:
  SharedOrder(std::uint64_t size, std::uint64_t seed)
      : size_(size), order_(size, random_key(seed, 0, RandomPurpose::order)) {}

  /// Nothing after one pass, if there is to be only one.
  std::optional<std::uint64_t> next(bool single_pass) {
    const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    if (single_pass && number >= size_) return std::nullopt;
    return order_(number % size_);
  }

 private:
  const std::uint64_t size_;
  const Permutation order_;
  std::atomic<std::uint64_t> next_ = 0;
};

/// The files that a dataset's payloads lie in, each opened once. Thread-safe.
class DiskFiles {
 public:
  const UnbufferedFile& open(const fs::path& path) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path);
    if (found != files_.end()) return found->second;
    return files_.emplace(path, UnbufferedFile::open(path)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<fs::path, UnbufferedFile> files_;
};

/// `buffer` grows as it must.
std::uint64_t read_payload(const UnbufferedFile& file, const PayloadPlace& place, AlignedBuffer& buffer) {
  const std::size_t needed = file.buffer_size(place.size);
  if (needed > buffer.bytes().size()) buffer = AlignedBuffer(needed * 2, file.alignment());
  return look_at(file.read(place.offset, place.size, buffer));
}

/// Those that can't be read past the page cache.
std::vector<fs::path> buffered_files(const PackedImages& images, DiskFiles& files) {
  std::vector<fs::path> paths;
  for (std::uint64_t i = 0; i < images.size(); i += std::max<std::uint64_t>(1, images.size() / 1000)) {
    const fs::path& path = *images.store().place(images.record(i)).file;
    if (!files.open(path).direct() && (paths.empty() || paths.back() != path)) paths.push_back(path);
  }
  return paths;
}

}  // namespace

ImageTotals count_images(const PackedImages& images) {
  ImageTotals totals;
  for (std::uint64_t i = 0; i < images.size(); ++i) {
    const RecordMeta meta = images.store().meta(images.record(i));
    totals.payload_bytes += meta.payload_size;
    totals.jpegs += meta.codec == Codec::jpeg ? 1 : 0;
  }
  return totals;
}

bool reads_past_cache(const PackedImages& images) {
  DiskFiles files;
  return buffered_files(images, files).empty();
}

MeasureRun measure_disk(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed) {
  DiskFiles files;
  const std::vector<fs::path> buffered = buffered_files(images, files);
  if (!buffered.empty()) evict(buffered);
  const bool single_pass = !buffered.empty();
  SharedOrder order(images.size(), seed);
  return run_in_parallel(options.threads, options, [&](unsigned, const RunClock& clock) {
    AlignedBuffer buffer;
    MeasureRun run;
    while (!clock.over()) {
      const std::optional<std::uint64_t> index = order.next(single_pass);
      if (!index) break;
      const PayloadPlace place = images.store().place(images.record(*index));
      run.bytes += read_payload(files.open(*place.file), place, buffer);
      ++run.samples;
    }
    return run;
  });
}

MeasureRun measure_memory(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed) {
  SharedOrder order(images.size(), seed);
  return run_in_parallel(options.threads, options, [&](unsigned, const RunClock& clock) {
    MeasureRun run;
    while (!clock.over()) {
      run.bytes += look_at(images.store().bytes(images.record(*order.next(false))).payload);
      ++run.samples;
    }
    return run;
  });
}

MeasureRun measure_entropy(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed) {
  SharedOrder order(images.size(), seed);
  return run_in_parallel(options.threads, options, [&](unsigned, const RunClock& clock) {
    jpeg::IndexBuilder builder;
    ByteBuffer index;
    MeasureRun run;
    while (!clock.over()) {
      const std::uint64_t record = images.record(*order.next(false));
      if (images.store().meta(record).codec != Codec::jpeg) continue;
      const std::span<const std::byte> payload = images.store().bytes(record).payload;
      if (builder.build(payload, {}, index) != jpeg::Indexability::indexable) continue;
      run.bytes += payload.size();
      ++run.samples;
    }
    return run;
  });
}

}  // namespace imgpack::measure
