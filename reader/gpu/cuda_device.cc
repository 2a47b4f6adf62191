#include "reader/gpu/cuda_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/cuda_job.h"
#include "reader/gpu/cuda_memory.h"

namespace imgpack {

namespace gpu {

namespace {

/// With three streams more, fewer than CUDA has queues by default. More lanes make a few more images a second, and take
/// more from the kernels of a training program (docs/gpu.md).
constexpr std::size_t kLanes = 3;
constexpr std::size_t kLeastScratch = std::size_t{512} << 20;
constexpr std::size_t kMostScratch = std::size_t{1} << 30;
constexpr std::size_t kScratchOfSample = std::size_t{1} << 20;
/// Blocks of threads that bring bytes over the bus. So few keep it busy; more of them would only take shared memory
/// from the kernels beside them (docs/gpu.md).
constexpr int kGatherBlocks = 24;
constexpr std::size_t kLeastLane = std::size_t{16} << 20;

/// Throws unsupported, in words that say what is missing.
void check_device(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    throw Error(ErrorCode::unsupported,
                fmt::format("there is no CUDA device: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status)));
  }
  if (device < 0 || device >= count) {
    throw Error(ErrorCode::unsupported, fmt::format("there is no device cuda:{}: this machine has {}", device, count));
  }
}

std::vector<std::span<const std::byte>> mappings_of(const std::vector<const StoreReader*>& stores) {
  std::vector<std::span<const std::byte>> all;
  for (const StoreReader* store : stores) {
    for (const std::span<const std::byte> mapping : store->mappings()) all.push_back(mapping);
  }
  return all;
}

/// Whether cuFile can read the datasets' files, before an epoch depends on it.
void try_reading(GdsFiles& files, const std::vector<const StoreReader*>& stores) {
  constexpr std::uint64_t kBytes = 4096;
  GdsArena arena(files);
  for (const StoreReader* store : stores) {
    if (store->size() == 0) continue;
    PayloadPlace place = store->place(0);
    place.size = std::min(place.size, kBytes);
    try {
      arena.read(place);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io) throw;
      throw Error(ErrorCode::unsupported,
                  fmt::format("gds transport (GPUDirect Storage) is not possible: {}", error.message()),
                  {.file = place.file->native()});
    }
  }
}

std::string name_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for a device's properties");
  return fmt::format("cuda:{} ({})", device, static_cast<const char*>(properties.name));
}

/// What lets one device write into another's memory without the host, where the machine can.
void enable_peer_access(int from, int to) {
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, from, to), "asking for peer access");
  if (possible == 0) return;
  const DeviceScope scope(from);
  const cudaError_t status = cudaDeviceEnablePeerAccess(to, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();
    return;
  }
  check(status, "enabling peer access");
}

class CudaDevice final : public BatchDevice {
 public:
  explicit CudaDevice(const CudaDeviceOptions& options)
      : state_(std::make_unique<DeviceState>(options)),
        pool_(std::make_unique<JobPool>()),
        name_(name_of(options.decode_device)) {
    if (options.device != options.decode_device) enable_peer_access(options.decode_device, options.device);
  }

  ~CudaDevice() override {
    try {  // so that memory is freed although another thread may capture a graph
      const DeviceScope scope(state_->options.decode_device);
      pool_.reset();
      state_.reset();
    } catch (...) {  // the device is lost
    }
  }

  std::unique_ptr<DeviceMemory> allocate(std::uint32_t size, std::uint32_t room) override {
    return std::make_unique<CudaMemory>(state_->options.device, state_->options.batch, size, room);
  }
  std::unique_ptr<DeviceJob> begin(DeviceMemory& memory, std::uint32_t samples) override {
    return std::make_unique<CudaJob>(*state_, *pool_, static_cast<CudaMemory&>(memory), samples);
  }
  int number() const noexcept override { return state_->options.device; }
  std::string transport_reason() const override {
    if (!state_->gds) return fmt::format("{}, {}", state_->files.reason(), name_);
    return fmt::format("gds for raw images, pinned for the bytes of JPEGs that are needed, {}", name_);
  }

 private:
  std::unique_ptr<DeviceState> state_;
  std::unique_ptr<JobPool> pool_;
  std::string name_;
};

}  // namespace

DeviceState::DeviceState(const CudaDeviceOptions& wanted)
    : options(wanted),
      values(wanted.format),
      staging_port(wanted.decode_device, transfers.get()),
      staging_ring(staging_port) {
  if (options.gather_blocks == 0) options.gather_blocks = kGatherBlocks;
  const std::size_t scratch = options.scratch_bytes != 0
                                  ? options.scratch_bytes
                                  : std::clamp(options.batch_size * kScratchOfSample, kLeastScratch, kMostScratch);
  const std::size_t lane_count = options.lanes == 0 ? kLanes : options.lanes;
  lane_bytes = std::max(scratch / lane_count, kLeastLane);
  image_bytes = std::max(scratch / 2, lane_bytes);
  files = RegisteredFiles::open(mappings_of(options.stores),
                                {.transport = options.transport, .limit_bytes = options.registered_bytes});
  if (options.transport == DeviceTransport::gds) {
    gds = GdsFiles::open();
    try_reading(*gds, options.stores);
  }
  copies_records = !gds && has_batched_copies();
  for (std::size_t i = 0; i < lane_count; ++i) lanes.push_back(Lane::create());
  uploads = Stream::create();
  finishes = Stream::create();
}

}  // namespace gpu

std::unique_ptr<BatchDevice> open_cuda_device(const CudaDeviceOptions& options) {
  gpu::check_device(options.device);
  gpu::check_device(options.decode_device);
  const gpu::DeviceScope scope(options.decode_device);
  return std::make_unique<gpu::CudaDevice>(options);
}

}  // namespace imgpack
