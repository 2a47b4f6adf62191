#include "reader/gpu/cuda_job.h"

#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "reader/augment/batch_mixer.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/erase.h"
#include "reader/gpu/kernels/mix_images.h"
#include "reader/gpu/kernels/raw_images.h"
#include "reader/gpu/kernels/small_copies.h"

namespace imgpack::gpu {

namespace {

/// Whether copying all from a crop's first pixel to its last is better than reading its rows over the bus: copies bring
/// what lies between the rows, but use the bus fully, which reads of rows hardly do by half.
bool is_worth_copying(const RawTask& raw) {
  return raw.crop.width * std::uint64_t{3} * 2 >= raw.source_stride;
}

}  // namespace

/// A wave, its lane, and the list that its decoder makes there.
struct CudaJob::LaneWave {
  WaveImages images;
  std::size_t lane = 0;
  LeftSegments left;
};

std::unique_ptr<JobMemory> JobPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  std::unique_ptr<JobMemory> memory = std::move(free_.back());
  free_.pop_back();
  return memory;
}

void JobPool::give_back(std::unique_ptr<JobMemory> memory) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(memory));
  } catch (...) {  // it is freed instead
  }
}

CudaJob::CudaJob(DeviceState& device, JobPool& pool, CudaMemory& memory, std::uint32_t samples)
    : device_(device), pool_(pool), memory_(memory), job_(pool.take()), samples_(samples) {
  const DeviceScope scope(device.options.decode_device);
  if (!job_) {
    job_ = std::make_unique<JobMemory>();
    job_->begun = Event::create(Event::Timing::on);
    job_->done = Event::create(Event::Timing::on);
    job_->uploaded = Event::create();
    job_->copied = Event::create();
    job_->staged = std::make_unique<StagedRecords>(device.staging_ring);
    for (std::size_t i = 0; i < device.lanes.size(); ++i) job_->lanes_done.push_back(Event::create());
  }
  if (job_->plans.size() < samples) job_->plans.resize(samples);
  for (ImagePlan& plan : std::span(job_->plans).first(samples)) plan.clear();
  job_->host_images.reset();
  job_->staged->reset();
  if (device.gds && !job_->from_disk) job_->from_disk = std::make_unique<GdsArena>(*device.gds);
  if (job_->from_disk) job_->from_disk->reset();
  job_->transfer.clear();
  job_->program.reset();
  jpegs_ = job_->program.reserve<JpegTask>(samples);
  const std::size_t flag_bytes = samples * sizeof(std::uint32_t);
  if (job_->damaged.size() < flag_bytes) job_->damaged = PinnedBuffer(flag_bytes);
  if (job_->device_damaged.size() < flag_bytes) job_->device_damaged = DeviceBuffer(flag_bytes);
  images_ = memory.images;
  if (device.options.decode_device != device.options.device) {
    const std::size_t bytes = device.options.batch.image_bytes() * samples;
    if (job_->images.size() < bytes) job_->images = DeviceBuffer(bytes);
    images_ = job_->images.data();
  }
}

CudaJob::~CudaJob() {
  try {
    const DeviceScope scope(device_.options.decode_device);
    if (submitted_) {
      job_->done.synchronize();
      if (changed_) device_.uploads.synchronize();  // by what `done` does not stand for yet
    }
    pool_.give_back(std::move(job_));
  } catch (...) {  // the device is lost, and nothing runs on it any more
  }
}

std::byte* CudaJob::image(std::size_t index) const noexcept {
  return images_ + index * device_.options.batch.image_bytes();
}

DeviceJob::Placement CudaJob::add(std::size_t index, const RecordMeta& meta, const RecordBytes& bytes,
                                  const SamplePlan& plan, const PayloadPlace* file) {
  ImagePlan& image = job_->plans[index];
  JpegTask& task = jpeg(index);
  if (index + 1 < samples_) prefetch_image(job_->plans[index + 1], jpeg(index + 1));  // samples mostly come in order
  plan_image(meta, bytes, plan, image, task);
  if (uses_waves(image) && image.scratch.total() > device_.image_bytes) {
    image.clear();
    image.path = ImagePath::host;
  }
  task.sample = static_cast<std::uint32_t>(index);
  try {
    bring(image, bytes, file);
  } catch (...) {
    image.clear();  // kernels must not see addresses of the host
    throw;
  }
  return {.result = {}, .host_image = image.host_image};
}

/// Brings what a planned image needs of its record where the device can read it.
void CudaJob::bring(ImagePlan& image, const RecordBytes& bytes, const PayloadPlace* file) {
  switch (image.path) {
    case ImagePath::jpeg:
      bring_jpeg(image);
      break;
    case ImagePath::pixels:
    case ImagePath::copied:
      bring_pixels(image, bytes.payload, file);
      break;
    case ImagePath::host:
    case ImagePath::none:
      image.host_image = host_image();
      break;
  }
}

/// Pinned memory for an image of the batch.
std::byte* CudaJob::host_image() {
  const DeviceScope scope(device_.options.decode_device);
  return job_->host_images.take(device_.options.batch.image_bytes());
}

void CudaJob::bring_jpeg(ImagePlan& image) {
  const std::byte* const entries = device_.files.device_view(image.entries);
  const std::byte* const scan = device_.files.device_view(image.scan);
  image.on_device = entries == nullptr || scan == nullptr;
  image.entries = image.on_device ? job_->staged->put(image.entries) : std::span(entries, image.entries.size());
  image.scan = image.on_device ? job_->staged->put(image.scan) : std::span(scan, image.scan.size());
}

/// `payload`: of the record; it need not be in the host's memory.
void CudaJob::bring_pixels(ImagePlan& image, std::span<const std::byte> payload, const PayloadPlace* file) {
  if (job_->from_disk && file != nullptr && file->size == payload.size()) {
    PayloadPlace place = *file;
    place.offset += static_cast<std::uint64_t>(image.pixels.data() - payload.data());
    place.size = image.pixels.size();
    const DeviceScope scope(device_.options.decode_device);
    image.pixels = job_->from_disk->read(place);
    image.on_device = true;
    return;
  }
  const std::byte* const view = device_.files.device_view(image.pixels);
  image.on_device = view == nullptr;
  image.pixels = image.on_device ? job_->staged->put(image.pixels) : std::span(view, image.pixels.size());
}

/// Gives bytes that the device would read elsewhere a place in its memory, where they are to be brought.
void CudaJob::place_records() {
  const auto visit_bytes = [this](const auto& visit) {
    for (ImagePlan& plan : std::span(job_->plans).first(samples_)) {
      if (plan.on_device) continue;
      if (plan.path == ImagePath::jpeg) {
        visit(plan.entries);
        visit(plan.scan);
      } else if (plan.path == ImagePath::pixels ||
                 (plan.path == ImagePath::copied && device_.copies_records && is_worth_copying(plan.raw) &&
                  !device_.files.crosses_windows(plan.pixels))) {
        visit(plan.pixels);
      }
    }
  };
  Carver counted;
  visit_bytes([&](std::span<const std::byte> bytes) { counted.take_like(bytes.data(), bytes.size()); });
  if (counted.used() > job_->records.size()) {
    job_->records = DeviceBuffer();
    job_->records = DeviceBuffer(counted.used() + counted.used() / 16);
    // Kernels read what lies beside images, and do not use it. Two streams fill it, neither of which may be early.
    check(cudaMemsetAsync(job_->records.data(), 0, job_->records.size(), device_.transfers.get()), "clearing memory");
    device_.transfers.synchronize();
  }
  Carver memory(job_->records.data());
  visit_bytes([&](std::span<const std::byte>& bytes) {
    std::byte* const place = memory.take_like(bytes.data(), bytes.size());
    job_->transfer.add(bytes, place, device_.copies_records ? &device_.files : nullptr);
    bytes = {place, bytes.size()};
  });
}

/// Cuts the batch into waves, and gives each a lane and its images their memory.
std::vector<CudaJob::LaneWave> CudaJob::place_waves() {
  std::vector<LaneWave> waves;
  for (const WaveImages& images : cut_waves(std::span(job_->plans).first(samples_), device_.lane_bytes)) {
    waves.push_back({.images = images, .lane = device_.next_lane, .left = {}});
    device_.next_lane = (device_.next_lane + 1) % device_.lanes.size();
    device_.lanes[waves.back().lane].reserve(images.bytes.general, images.bytes.coefficients);
  }
  if (job_->waves.size() < waves.size()) job_->waves.resize(waves.size());
  for (std::size_t w = 0; w < waves.size(); ++w) place_images(waves[w], job_->waves[w]);
  return waves;
}

void CudaJob::place_images(LaneWave& placed, Wave& wave) {
  const Lane& lane = device_.lanes[placed.lane];
  Carver general(lane.general());
  Carver coefficients(lane.coefficients());
  wave.reset();
  placed.left.count = general.take<std::uint32_t>(1);
  placed.left.items = general.take<LeftSegment>(placed.images.segments);
  for (std::uint32_t i = placed.images.first; i < placed.images.end; ++i) {
    ImagePlan& plan = job_->plans[i];
    if (!uses_waves(plan)) continue;
    place_image(plan, jpeg(i), i, {general, coefficients}, image(i));
    wave.add(plan, jpeg(i), i);
  }
}

void CudaJob::put_labels(const BatchLabels& labels) {
  std::memcpy(job_->program.host<std::byte>(labels_), labels.labels.data(), labels.labels.size_bytes());
  std::memcpy(job_->program.host<std::byte>(mask_), labels.mask.data(), labels.mask.size_bytes());
  if (labels.soft_labels.empty()) return;
  std::memcpy(job_->program.host<std::byte>(soft_labels_), labels.soft_labels.data(), labels.soft_labels.size_bytes());
}

/// For the images that only are cut out.
std::vector<RawTask> CudaJob::make_raw_tasks() {
  std::vector<RawTask> tasks;
  for (std::uint32_t i = 0; i < samples_; ++i) {
    const ImagePlan& plan = job_->plans[i];
    if (plan.path != ImagePath::copied) continue;
    RawTask& task = tasks.emplace_back(plan.raw);
    task.source = reinterpret_cast<const std::uint8_t*>(plan.pixels.data());
    task.out = image(i);
  }
  return tasks;
}

void CudaJob::write_program(const BatchLabels& labels) {
  ProgramBuffer& program = job_->program;
  const std::vector<RawTask> raws = make_raw_tasks();
  std::vector<EraseTask> erasings;
  const DType dtype = device_.options.batch.dtype;
  for (std::uint32_t i = 0; i < samples_; ++i) {
    const ImagePlan& plan = job_->plans[i];
    auto later = static_cast<std::uint32_t>(plan.erasings.size());
    for (const Erasing& erasing : plan.erasings) erasings.push_back(make_erase_task(erasing, dtype, image(i), --later));
  }
  raw_count_ = static_cast<std::uint32_t>(raws.size());
  erasing_count_ = static_cast<std::uint32_t>(erasings.size());
  raws_ = program.append(std::span<const RawTask>(raws));
  erasings_ = program.append(std::span<const EraseTask>(erasings));
  label_count_ = static_cast<std::uint32_t>(labels.labels.size());
  labels_ = program.reserve<std::int64_t>(labels.labels.size());
  mask_ = program.reserve<std::uint8_t>(labels.mask.size());
  soft_labels_ = program.reserve<float>(labels.soft_labels.size());
  put_labels(labels);
  job_->transfer.write(program);
}

void CudaJob::submit(const BatchLabels& labels) {
  const std::lock_guard lock(device_.mutex);
  const DeviceScope scope(device_.options.decode_device);
  try {
    job_->begun.record(device_.uploads.get());
    place_records();
    job_->transfer.queue_copies(device_.transfers.get());  // first, so that they run while the program is written
    const std::vector<LaneWave> waves = place_waves();
    write_program(labels);
    for (std::size_t w = 0; w < waves.size(); ++w) job_->waves[w].write(job_->program);
    job_->program.settle();
    for (std::size_t w = 0; w < waves.size(); ++w) job_->waves[w].patch(job_->program);
    upload();
    launch_finish(launch_lanes(waves));
  } catch (...) {
    give_up();
    throw;
  }
  submitted_ = true;
  queued_ = true;
}

/// What was queued is waited for, and later batches find the lanes as they have to be: coefficients may be left there.
void CudaJob::give_up() noexcept {
  try {
    device_.transfers.synchronize();
    device_.uploads.synchronize();
    for (Lane& lane : device_.lanes) lane.recover();
    device_.finishes.synchronize();
  } catch (...) {  // the device is lost, as all that comes will find
  }
}

void CudaJob::upload() {
  const cudaStream_t stream = device_.uploads.get();
  job_->program.upload(stream);
  job_->transfer.queue_gather(job_->program, device_.options.gather_blocks, stream);
  check(cudaMemsetAsync(job_->device_damaged.data(), 0xff, samples_ * sizeof(std::uint32_t), stream), "clearing flags");
  job_->uploaded.record(stream);
  copies_ = job_->staged->finish() || job_->transfer.has_copies();
  if (copies_) job_->copied.record(device_.transfers.get());
}

/// Before the first work for this batch in a lane.
void CudaJob::begin_lane(std::size_t lane, std::vector<bool>& used) {
  if (used[lane]) return;
  used[lane] = true;
  const Lane& begun = device_.lanes[lane];
  check(cudaStreamWaitEvent(begun.stream(), job_->uploaded.get(), 0), "letting a stream wait");
  if (copies_) check(cudaStreamWaitEvent(begun.stream(), job_->copied.get(), 0), "letting a stream wait");
  memory_.wait_for_release(begun.stream());
}

/// Returns which lanes are used.
std::vector<bool> CudaJob::launch_lanes(const std::vector<LaneWave>& waves) {
  std::vector<bool> used(device_.lanes.size());
  auto* const damaged = reinterpret_cast<std::uint32_t*>(job_->device_damaged.data());
  for (std::size_t w = 0; w < waves.size(); ++w) {
    begin_lane(waves[w].lane, used);
    job_->waves[w].launch(job_->program, job_->program.device<JpegTask>(jpegs_), device_.values.values(), waves[w].left,
                          damaged, device_.lanes[waves[w].lane].stream());
  }
  if (raw_count_ != 0) {  // a batch of images that need no scratch memory; the next one goes into another lane
    const std::size_t lane = device_.next_lane;
    device_.next_lane = (lane + 1) % device_.lanes.size();
    begin_lane(lane, used);
    const BatchFormat& batch = device_.options.batch;
    const cudaStream_t stream = device_.lanes[lane].stream();
    launch_raw_images(job_->program.device<RawTask>(raws_), raw_count_, {batch.image.width, batch.image.height},
                      device_.values.values(), stream);
  }
  return used;
}

void CudaJob::launch_finish(const std::vector<bool>& used) {
  const cudaStream_t stream = device_.finishes.get();
  check(cudaStreamWaitEvent(stream, job_->uploaded.get(), 0), "letting a stream wait");
  memory_.wait_for_release(stream);
  for (std::size_t lane = 0; lane < used.size(); ++lane) {
    if (!used[lane]) continue;
    job_->lanes_done[lane].record(device_.lanes[lane].stream());
    check(cudaStreamWaitEvent(stream, job_->lanes_done[lane].get(), 0), "letting a stream wait");
  }
  const BatchFormat& batch = device_.options.batch;
  for (std::uint32_t i = 0; i < samples_; ++i) {
    const ImagePlan& plan = job_->plans[i];
    if (plan.host_image == nullptr) continue;
    check(cudaMemcpyAsync(image(i), plan.host_image, batch.image_bytes(), cudaMemcpyHostToDevice, stream),
          "copying an image");
  }
  erase_rects(job_->program.device<EraseTask>(erasings_), erasing_count_, batch.dtype, batch.layout,
              {batch.image.width, batch.image.height}, stream);
  check(cudaMemcpyAsync(job_->damaged.data(), job_->device_damaged.data(), samples_ * sizeof(std::uint32_t),
                        cudaMemcpyDeviceToHost, stream),
        "copying flags");
  copy_labels(stream);
  finish_on(stream);
}

void CudaJob::copy_labels(cudaStream_t stream) {
  const auto copy = [this](void* to, ProgramBuffer::Place from, std::size_t bytes) {
    return SmallCopy{.source = job_->program.host<std::byte>(from), .destination = to, .bytes = bytes};
  };
  const std::size_t classes = memory_.soft_labels == nullptr ? 0 : device_.options.batch.soft_classes;
  const SmallCopy copies[] = {copy(memory_.labels, labels_, label_count_ * sizeof(std::int64_t)),
                              copy(memory_.mask, mask_, label_count_),
                              copy(memory_.soft_labels, soft_labels_, label_count_ * classes * sizeof(float))};
  if (device_.options.device == device_.options.decode_device) return launch_small_copies(copies, stream);
  for (const SmallCopy& c : copies) {  // to another device's memory, which kernels may not reach
    if (c.bytes == 0) continue;
    check(cudaMemcpyAsync(c.destination, c.source, c.bytes, cudaMemcpyHostToDevice, stream), "copying labels");
  }
}

/// Brings the images to the device that keeps them, if that is another one.
void CudaJob::finish_on(cudaStream_t stream) {
  const CudaDeviceOptions& options = device_.options;
  if (images_ != memory_.images) {
    check(cudaMemcpyPeerAsync(memory_.images, options.device, images_, options.decode_device,
                              options.batch.image_bytes() * samples_, stream),
          "copying a batch to its device");
  }
  job_->done.record(stream);
}

void CudaJob::wait() {
  const DeviceScope scope(device_.options.decode_device);
  if (!queued_) return;
  finish_if_changed();
  job_->done.synchronize();
  queued_ = false;
}

std::optional<std::string> CudaJob::damaged(std::size_t index) const {
  const std::uint32_t segment = reinterpret_cast<const std::uint32_t*>(job_->damaged.data())[index];
  if (segment == kNotDamaged) return std::nullopt;
  return fmt::format("its JPEG is damaged, the first segment that was found is segment {}", segment);
}

double CudaJob::device_seconds() const {
  float milliseconds = 0;
  const DeviceScope scope(device_.options.decode_device);
  check(cudaEventElapsedTime(&milliseconds, job_->begun.get(), job_->done.get()), "asking for a time");
  return static_cast<double>(milliseconds) * 1e-3;
}

void CudaJob::copy_image(std::size_t to, std::size_t from) {
  changed_ = queued_ = true;
  const DeviceScope scope(device_.options.decode_device);
  check(cudaMemcpyAsync(image(to), image(from), device_.options.batch.image_bytes(), cudaMemcpyDeviceToDevice,
                        device_.uploads.get()),
        "copying an image");
}

void CudaJob::clear_image(std::size_t index) {
  changed_ = queued_ = true;
  const DeviceScope scope(device_.options.decode_device);
  check(cudaMemsetAsync(image(index), 0, device_.options.batch.image_bytes(), device_.uploads.get()),
        "clearing an image");
}

void CudaJob::mix(const Mix& mix, std::uint32_t count, std::optional<std::size_t> previous) {
  changed_ = queued_ = true;
  const DeviceScope scope(device_.options.decode_device);
  const BatchFormat& batch = device_.options.batch;
  mix_images(mix, batch.dtype, batch.layout, {batch.image.width, batch.image.height}, images_, count, previous,
             device_.uploads.get());
}

void CudaJob::set_labels(const BatchLabels& labels) {
  changed_ = queued_ = true;
  const DeviceScope scope(device_.options.decode_device);
  put_labels(labels);
  copy_labels(device_.uploads.get());
}

void CudaJob::finish_if_changed() {
  if (!changed_) return;
  finish_on(device_.uploads.get());
  changed_ = false;
}

}  // namespace imgpack::gpu
