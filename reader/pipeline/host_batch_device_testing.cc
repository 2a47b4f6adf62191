#include "reader/pipeline/host_batch_device_testing.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "codec/other/other_image.h"
#include "imgpack/error.h"
#include "reader/augment/batch_mixer.h"
#include "reader/augment/sample_maker.h"

namespace imgpack::testing {

namespace {

class HostDeviceMemory : public DeviceMemory {
 public:
  HostDeviceMemory(const BatchFormat& format, std::uint32_t size, std::uint32_t room, HostDeviceLog& log)
      : pixels_(format.image_bytes() * room),
        labels_(size),
        soft_labels_(std::size_t{size} * format.soft_classes),
        mask_(size),
        log_(log) {
    images = pixels_.data();
    labels = labels_.data();
    soft_labels = soft_labels_.empty() ? nullptr : soft_labels_.data();
    mask = mask_.data();
    ++log_.memories;
  }
  ~HostDeviceMemory() override { --log_.memories; }

  void use_on(void*) override { ++log_.uses; }
  void release() noexcept override {
    ++log_.released;
    in_use = false;
  }

  std::atomic<bool> in_use{false};  ///< from begin() to release()

 private:
  std::vector<std::byte> pixels_;
  std::vector<std::int64_t> labels_;
  std::vector<float> soft_labels_;
  std::vector<std::uint8_t> mask_;
  HostDeviceLog& log_;
};

}  // namespace

class HostDeviceJob : public DeviceJob {
 public:
  HostDeviceJob(HostBatchDevice& device, HostDeviceMemory& memory, std::uint32_t samples)
      : device_(device), log_(device.log_), plan_(device.plan_), memory_(memory), samples_(samples) {
    if (memory_.in_use.exchange(true)) ++log_.wrong;
    const int jobs = ++log_.jobs;
    int most = log_.most_jobs;
    while (most < jobs && !log_.most_jobs.compare_exchange_weak(most, jobs)) {
    }
  }
  ~HostDeviceJob() override {
    idle();
    --log_.jobs;
  }

  Placement add(std::size_t index, const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan,
                const PayloadPlace* file) override {
    if (submitted_ || index >= samples_.size()) ++log_.wrong;
    if (file != nullptr) ++(file->size == bytes.payload.size() ? log_.files : log_.wrong);
    Added& added = samples_[index];
    added.state = Added::State::device;
    if (log_.host_every != 0 && index % log_.host_every == 0) {
      added.state = Added::State::host;
      added.host.resize(plan_.format.image_bytes());
      return {.result = {}, .host_image = added.host.data()};
    }
    added.meta = meta;
    added.payload.assign(bytes.payload.begin(), bytes.payload.end());
    added.segments.assign(bytes.segments.begin(), bytes.segments.end());
    added.plan = plan;
    return {};
  }

  void submit(const BatchLabels& labels) override {
    if (std::exchange(submitted_, true)) ++log_.wrong;
    if (log_.submits++ == log_.failing_submit) throw Error(ErrorCode::io, "submit() fails, as it was told to");
    queue([this] { make_all(); });
    queue_labels(labels);
  }

  void wait() override {
    if (!submitted_) ++log_.wrong;
    idle();
    if (log_.waits++ == log_.failing_wait) throw Error(ErrorCode::io, "wait() fails, as it was told to");
  }

  std::optional<std::string> damaged(std::size_t index) const override {
    const std::string& reason = samples_[index].damage;
    return reason.empty() ? std::nullopt : std::optional(reason);
  }
  double device_seconds() const override { return 0.25; }

  void copy_image(std::size_t to, std::size_t from) override {
    ++log_.repairs;
    queue([this, to, from] { std::memcpy(image(to), image(from), plan_.format.image_bytes()); });
  }
  void clear_image(std::size_t index) override {
    ++log_.repairs;
    queue([this, index] { std::memset(image(index), 0, plan_.format.image_bytes()); });
  }
  void mix(const Mix& mix, std::uint32_t count, std::optional<std::size_t> previous) override {
    ++log_.repairs;
    queue([this, mix, count, previous] {
      plan_.mixer->mix_images(mix, memory_.images, count, previous ? image(*previous) : nullptr);
    });
  }
  void set_labels(const BatchLabels& labels) override {
    ++log_.repairs;
    queue_labels(labels);
  }

 private:
  struct Added {
    enum class State : std::uint8_t { none, host, device } state = State::none;
    RecordMeta meta;
    std::vector<std::byte> payload, segments, host;
    SamplePlan plan;
    std::string damage;
  };

  std::byte* image(std::size_t index) const { return memory_.images + index * plan_.format.image_bytes(); }

  void make_all() {
    std::this_thread::sleep_for(log_.slowness);
    SampleMaker maker(plan_.augmenter.format(), &decode_other_image, plan_.options.max_pixels);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      Added& sample = samples_[i];
      if (sample.state == Added::State::host) std::memcpy(image(i), sample.host.data(), sample.host.size());
      if (sample.state != Added::State::device) continue;
      const ImageResult result =
          maker.make(sample.meta, {.payload = sample.payload, .segments = sample.segments}, sample.plan, image(i));
      if (!result.ok()) sample.damage = result.reason;
    }
  }

  void queue_labels(const BatchLabels& from) {
    queue([this, labels = std::vector(from.labels.begin(), from.labels.end()),
           mask = std::vector(from.mask.begin(), from.mask.end()),
           soft = std::vector(from.soft_labels.begin(), from.soft_labels.end())] {
      std::copy(labels.begin(), labels.end(), memory_.labels);
      std::copy(mask.begin(), mask.end(), memory_.mask);
      std::copy(soft.begin(), soft.end(), memory_.soft_labels);
    });
  }

  void queue(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      ++queued_;
    }
    device_.queue([this, task = std::move(task)] {
      task();
      const std::lock_guard lock(mutex_);
      if (--queued_ == 0) idle_.notify_all();
    });
  }
  void idle() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return queued_ == 0; });
  }

  HostBatchDevice& device_;
  HostDeviceLog& log_;
  const WorkPlan& plan_;
  HostDeviceMemory& memory_;
  std::vector<Added> samples_;
  bool submitted_ = false;
  std::mutex mutex_;
  std::condition_variable idle_;
  int queued_ = 0;
};

HostBatchDevice::HostBatchDevice(const WorkPlan& plan, HostDeviceLog& log) : plan_(plan), log_(log) {
  ++log_.devices;
  thread_ = std::thread([this] { work(); });
}

HostBatchDevice::~HostBatchDevice() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (log_.jobs != 0 || log_.memories != 0) ++log_.wrong;
  --log_.devices;
}

std::unique_ptr<DeviceMemory> HostBatchDevice::allocate(std::uint32_t size, std::uint32_t room) {
  if (log_.allocations++ == log_.failing_allocation) {
    throw Error(ErrorCode::out_of_memory, "allocate() fails, as it was told to");
  }
  return std::make_unique<HostDeviceMemory>(plan_.format, size, room, log_);
}

std::unique_ptr<DeviceJob> HostBatchDevice::begin(DeviceMemory& memory, std::uint32_t samples) {
  return std::make_unique<HostDeviceJob>(*this, dynamic_cast<HostDeviceMemory&>(memory), samples);
}

void HostBatchDevice::queue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void HostBatchDevice::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace imgpack::testing
