// The work for one batch on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "reader/gpu/cuda_device.h"
#include "reader/gpu/cuda_memory.h"
#include "reader/gpu/cuda_staging_port.h"
#include "reader/gpu/gds_arena.h"
#include "reader/gpu/image_plan.h"
#include "reader/gpu/kernels/value_tables.h"
#include "reader/gpu/lane.h"
#include "reader/gpu/pinned_arena.h"
#include "reader/gpu/program_buffer.h"
#include "reader/gpu/record_transfer.h"
#include "reader/gpu/registered_files.h"
#include "reader/gpu/staging_ring.h"
#include "reader/gpu/wave.h"
#include "reader/gpu/wave_images.h"

namespace imgpack::gpu {

/// What the jobs of a device share.
struct DeviceState {
  /// Throws as open_cuda_device() does.
  explicit DeviceState(const CudaDeviceOptions& options);

  CudaDeviceOptions options;
  std::size_t lane_bytes = 0;   ///< scratch memory of a lane
  std::size_t image_bytes = 0;  ///< most of it for a single image, for which a lane may grow
  RegisteredFiles files;
  std::unique_ptr<GdsFiles> gds;  ///< nullptr unless asked for
  bool copies_records = false;    ///< BatchedCopies may be used
  DeviceValueTables values;
  Stream transfers = Stream::create();  ///< records that copy engines bring
  CudaStagingPort staging_port;
  StagingRing staging_ring;  ///< for what is not registered

  // Few streams in all: CUDA has eight queues by default, and streams that share one wait for each other.
  std::mutex mutex;  ///< of the lanes, and of the order in which work is queued
  std::vector<Lane> lanes;
  std::size_t next_lane = 0;
  /// Programs and small pieces of records on their way to the device, and what is done to batches that the host has
  /// waited for: never waits itself.
  Stream uploads;
  Stream finishes;  ///< what comes when a batch's lanes are done, batch after batch
};

/// The memory of a job, kept for later ones.
struct JobMemory {
  ProgramBuffer program;
  PinnedArena host_images;
  std::unique_ptr<StagedRecords> staged;
  std::unique_ptr<GdsArena> from_disk;  ///< with GPUDirect Storage
  PinnedBuffer damaged;                 ///< by sample: the first damaged segment, or kNotDamaged
  DeviceBuffer device_damaged;
  RecordTransfer transfer;  ///< of records that are registered
  DeviceBuffer records;     ///< where it brings them
  DeviceBuffer images;      ///< where batches are decoded for another device
  std::vector<ImagePlan> plans;
  std::vector<Wave> waves;
  Event begun;
  Event done;
  std::vector<Event> lanes_done;  ///< by lane
  Event uploaded;
  Event copied;  ///< of records, all that copy engines bring
};

/// Hands out job memory and takes it back. Thread-safe.
class JobPool {
 public:
  std::unique_ptr<JobMemory> take();
  void give_back(std::unique_ptr<JobMemory> memory) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<JobMemory>> free_;
};

/// Locks DeviceState::mutex where it takes lanes; what is done after submit() is for one thread.
class CudaJob final : public DeviceJob {
 public:
  CudaJob(DeviceState& device, JobPool& pool, CudaMemory& memory, std::uint32_t samples);
  ~CudaJob() override;

  Placement add(std::size_t index, const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan,
                const PayloadPlace* file) override;
  void submit(const BatchLabels& labels) override;
  void wait() override;
  std::optional<std::string> damaged(std::size_t index) const override;
  double device_seconds() const override;
  void copy_image(std::size_t to, std::size_t from) override;
  void clear_image(std::size_t index) override;
  void mix(const Mix& mix, std::uint32_t count, std::optional<std::size_t> previous) override;
  void set_labels(const BatchLabels& labels) override;

 private:
  struct LaneWave;

  JpegTask& jpeg(std::size_t index) const noexcept { return job_->program.host<JpegTask>(jpegs_)[index]; }
  std::byte* image(std::size_t index) const noexcept;
  void place_records();
  std::vector<LaneWave> place_waves();
  void place_images(LaneWave& placed, Wave& wave);
  std::vector<RawTask> make_raw_tasks();
  void write_program(const BatchLabels& labels);
  void upload();
  std::vector<bool> launch_lanes(const std::vector<LaneWave>& waves);
  void launch_finish(const std::vector<bool>& used);
  void begin_lane(std::size_t lane, std::vector<bool>& used);
  void finish_on(cudaStream_t stream);
  void copy_labels(cudaStream_t stream);
  void put_labels(const BatchLabels& labels);
  void finish_if_changed();
  void bring(ImagePlan& image, const RecordBytes& bytes, const PayloadPlace* file);
  std::byte* host_image();
  void bring_jpeg(ImagePlan& image);
  void bring_pixels(ImagePlan& image, std::span<const std::byte> payload, const PayloadPlace* file);
  void give_up() noexcept;

  DeviceState& device_;
  JobPool& pool_;
  CudaMemory& memory_;
  std::unique_ptr<JobMemory> job_;
  const std::uint32_t samples_;
  std::byte* images_ = nullptr;  ///< where the batch is made
  std::uint32_t label_count_ = 0;

  ProgramBuffer::Place jpegs_, raws_, erasings_, labels_, mask_, soft_labels_;
  std::uint32_t raw_count_ = 0;
  std::uint32_t erasing_count_ = 0;
  bool copies_ = false;     ///< there is something that `copied` stands for
  bool queued_ = false;     ///< something since the last wait()
  bool submitted_ = false;  ///< all of it, so that `done` tells its end
  bool changed_ = false;    ///< images or labels, after submit()
};

}  // namespace imgpack::gpu
