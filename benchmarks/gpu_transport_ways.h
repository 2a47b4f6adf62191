// The ways by which gpu_transport_benchmark brings records of raw pixels to the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "imgpack/store.h"
#include "reader/gpu/cuda_handles.h"
#include "reader/gpu/cuda_staging_port.h"
#include "reader/gpu/kernels/value_tables.h"
#include "reader/gpu/program_buffer.h"
#include "reader/gpu/raw_task.h"
#include "reader/gpu/record_transfer.h"
#include "reader/gpu/registered_files.h"
#include "reader/gpu/staging_ring.h"

namespace imgpack::benchmark {

inline constexpr std::uint32_t kSide = 256;
inline constexpr std::size_t kRecordBytes = std::size_t{kSide} * kSide * 3;
inline constexpr std::uint32_t kCropSide = 224;
inline constexpr std::size_t kCropBytes = std::size_t{kCropSide} * kCropSide * 3;
inline constexpr std::uint32_t kLargestBatch = 1024;

/// Records without end, in random order.
class Order {
 public:
  explicit Order(std::uint64_t records);
  std::uint64_t next() { return order_[at_++ % order_.size()]; }

 private:
  std::vector<std::uint64_t> order_;
  std::uint64_t at_ = 0;
};

/// What a batch that is under way needs.
struct Slot {
  gpu::Stream stream = gpu::Stream::create();
  gpu::Event done = gpu::Event::create();
  gpu::DeviceBuffer out{std::max(kRecordBytes, kCropBytes * 2) * kLargestBatch};  // the crops are float16
  std::vector<std::span<const std::byte>> records;
  std::vector<gpu::RawTask> tasks;
  gpu::ProgramBuffer program;
  gpu::RecordTransfer transfer;
  gpu::DeviceBuffer copied{(kRecordBytes + 256) * kLargestBatch};  ///< where raw images are copied to
};

/// Who brings the bytes over the bus.
enum class Engine : std::uint8_t { kernel, copy_engine };

/// Each way is a function that runs for some seconds and returns the bytes of pixels that it has brought over.
class TransportWays {
 public:
  using Way = std::function<std::uint64_t(double seconds)>;

  /// Packs about `gigabytes` of records into a file in `folder`, which the destructor removes.
  TransportWays(const std::filesystem::path& folder, double gigabytes);
  ~TransportWays();
  TransportWays(const TransportWays&) = delete;
  TransportWays& operator=(const TransportWays&) = delete;

  /// From now on the mapping is registered, and no copy of it is pageable any more.
  void register_file();
  /// Throws if a gathered batch has other bytes than the file: a fast copy of the wrong ones would be no result.
  void check_bytes();
  const std::string& transport() const { return files_.reason(); }
  std::uint64_t records() const { return store_->size(); }

  /// One large copy from pinned memory.
  Way peak();
  /// A copy a record.
  Way copies(std::uint32_t batch);
  /// `blocks`: of the kernel; 0: as the library does.
  Way gather(std::uint32_t batch, Engine engine, int blocks);
  /// As batches, whole as uint8 or cut, flipped and normalised as float16.
  Way raw(std::uint32_t batch, bool cropped, Engine engine, int blocks);
  /// `threads` send records through a ring of pinned memory.
  Way pinned(std::uint32_t batch, unsigned threads);

 private:
  static constexpr std::size_t kSlots = 4;

  std::uint64_t loop(double seconds, const std::function<std::uint64_t(Slot&)>& batch);
  const std::byte* source(std::uint64_t record) const;
  void queue_gather(Slot& slot, const std::vector<std::span<const std::byte>>& records, Engine engine, int blocks);
  std::uint64_t queue_raw(Slot& slot, std::uint32_t batch, bool cropped, Engine engine, int blocks);

  std::filesystem::path path_;
  gpu::DeviceValueTables plain_;
  gpu::DeviceValueTables normalized_;
  std::unique_ptr<StoreReader> store_;
  std::unique_ptr<Order> order_;
  gpu::RegisteredFiles files_;  // before the store ends
  gpu::PinnedBuffer peak_source_;
  std::array<Slot, kSlots> slots_;
  gpu::Stream transfers_ = gpu::Stream::create();
  gpu::CudaStagingPort port_{0, transfers_.get()};
  gpu::StagingRing ring_{port_};
};

}  // namespace imgpack::benchmark
