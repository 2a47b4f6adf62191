// A ring of pinned memory through which threads send records to a device. It is small, so that what is written stays in
// the caches until the device has read it: copying into it takes half the memory traffic of copying into memory that is
// large. No CUDA here.
//
//   StagingRing ring(port);                          one for a device
//   StagedRecords records(ring);                     one for a batch
//   std::span device = records.put(payload);         on any thread: copies; full chunks go off by themselves
//   records.finish();                                the rest goes off; what comes after it on the device waits for it
//   records.reset();                                 when the device is done with the batch
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace imgpack::gpu {

/// What a ring needs of a device. Functions are thread-safe and throw out_of_memory, io.
class StagingPort {
 public:
  virtual ~StagingPort() = default;

  /// Aligned to 64 bytes.
  virtual std::shared_ptr<std::byte> allocate_host(std::size_t bytes) = 0;
  virtual std::shared_ptr<std::byte> allocate_device(std::size_t bytes) = 0;
  /// Queues a copy to the device behind those before it. `chunk`, a number from 0 on, is what is_sent() and wait() ask
  /// for; it is sent again only when its last copy has ended.
  virtual void send(std::size_t chunk, const std::byte* host, std::byte* device, std::size_t bytes) = 0;
  virtual bool is_sent(std::size_t chunk) = 0;
  virtual void wait(std::size_t chunk) = 0;
};

/// Thread-safe.
class StagingRing {
 public:
  struct Chunk {
    std::size_t number = 0;
    std::shared_ptr<std::byte> host;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kChunkBytes = std::size_t{8} << 20;
  /// In all, unless more batches are being filled at a time. Many more would not stay in the caches, and with smaller
  /// ones threads wait for each other too often (docs/gpu.md).
  static constexpr std::size_t kChunks = 8;

  /// REQUIRES: `port` outlives it; nothing is being sent any more when it is destroyed.
  explicit StagingRing(StagingPort& port, std::size_t chunk_bytes = kChunkBytes, std::size_t chunks = kChunks)
      : port_(port), chunk_bytes_(chunk_bytes), chunks_(chunks) {}

  /// A chunk of at least `bytes`, for the caller alone. Waits for the device if too much is under way to it. Throws
  /// what the port throws.
  Chunk take(std::size_t bytes);
  /// Sends the first `bytes` of a chunk, which is the ring's again. Throws what the port throws; the chunk is gone
  /// then.
  void send(Chunk chunk, std::byte* device, std::size_t bytes);
  /// A chunk that is not to be sent.
  void give_back(Chunk chunk) noexcept;

  StagingPort& port() const noexcept { return port_; }
  std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }

 private:
  /// Larger ones, made for large records, are not kept for others.
  static constexpr std::size_t kMostKept = 2;

  Chunk take_any();
  void lose() noexcept;

  StagingPort& port_;
  const std::size_t chunk_bytes_;
  const std::size_t chunks_;
  std::mutex mutex_;  ///< of what follows
  std::size_t next_number_ = 0;
  std::size_t alive_ = 0;  ///< chunks, whoever has them
  std::vector<Chunk> free_;
  std::deque<Chunk> sent_;  ///< in the order in which they were queued
};

/// put() is thread-safe; the others must not run beside it, nor reset() while the device uses the records. Keeps its
/// device memory from batch to batch.
class StagedRecords {
 public:
  /// Bytes before and behind each record that may be read.
  static constexpr std::size_t kMargin = 16;

  /// REQUIRES: `ring` outlives it.
  explicit StagedRecords(StagingRing& ring) : ring_(ring) {}
  ~StagedRecords() { reset(); }
  StagedRecords(const StagedRecords&) = delete;
  StagedRecords& operator=(const StagedRecords&) = delete;

  /// Where the bytes will be on the device, when what finish() has queued is done; until reset(). Throws what the port
  /// throws; a failure to send may be another thread's, and makes all of the batch worthless.
  std::span<const std::byte> put(std::span<const std::byte> bytes);
  /// After the last put(). Returns whether anything was sent. Throws what the port throws, or has thrown when it should
  /// have sent.
  bool finish();
  void reset() noexcept;

 private:
  static constexpr std::size_t kLine = 64;

  struct Filling {
    StagingRing::Chunk chunk;
    std::byte* device = nullptr;
    std::size_t used = 0;
    unsigned writers = 0;
    bool closed = false;
    bool sent = false;
  };
  struct DeviceChunk {
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
  };
  Filling& filling_with(std::size_t room, std::unique_lock<std::mutex>& lock);
  StagingRing::Chunk fetch(std::size_t room, std::unique_lock<std::mutex>& lock);
  void close(Filling& filling) noexcept;
  void send(Filling& filling) noexcept;
  void give_back_next() noexcept;

  StagingRing& ring_;
  std::mutex mutex_;  ///< of what follows
  std::condition_variable fetched_;
  bool fetching_ = false;                   ///< a thread takes a chunk from the ring
  std::optional<StagingRing::Chunk> next_;  ///< fetched while the last one still has room, so that nobody need wait
  std::exception_ptr failure_;              ///< of a chunk that was not sent
  std::deque<Filling> fillings_;            ///< of the batch; the last one is being filled
  std::vector<DeviceChunk> device_;         ///< by filling
};

}  // namespace imgpack::gpu
