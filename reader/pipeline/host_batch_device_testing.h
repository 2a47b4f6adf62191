// A device that is none: host memory, and a thread that makes the pixels with SampleMaker, later and in order, as a
// stream does. For tests of what stands above BatchDevice.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack::testing {

/// What a device is told to do, and what it has seen. Shared with it; outlives it.
struct HostDeviceLog {
  // To be set before the device works.
  std::chrono::milliseconds slowness{0};  ///< of each job
  std::size_t host_every = 0;             ///< each of so many samples is left to the host; 0: none
  int failing_submit = -1;                ///< number of the submit() that throws, from 0
  int failing_wait = -1;                  ///< of the wait() that throws
  int failing_allocation = -1;            ///< of the allocate() that throws out_of_memory

  std::atomic<int> submits{0};
  std::atomic<int> waits{0};
  std::atomic<int> repairs{0};  ///< copy_image, clear_image, mix, set_labels
  std::atomic<int> allocations{0};
  std::atomic<int> jobs{0};       ///< that exist
  std::atomic<int> most_jobs{0};  ///< that existed at a time
  std::atomic<int> memories{0};   ///< that exist
  std::atomic<int> devices{0};    ///< that exist
  std::atomic<int> files{0};      ///< samples whose place on disk was told, rightly
  std::atomic<int> uses{0};       ///< use_on()
  std::atomic<int> released{0};
  std::atomic<int> wrong{0};  ///< calls that the interface does not allow
};

class HostBatchDevice : public BatchDevice {
 public:
  HostBatchDevice(const WorkPlan& plan, HostDeviceLog& log);
  ~HostBatchDevice() override;

  std::unique_ptr<DeviceMemory> allocate(std::uint32_t size, std::uint32_t room) override;
  std::unique_ptr<DeviceJob> begin(DeviceMemory& memory, std::uint32_t samples) override;
  int number() const noexcept override { return plan_.device.index; }
  std::string transport_reason() const override { return "a host that plays a device"; }

 private:
  friend class HostDeviceJob;
  void work();
  void queue(std::function<void()> task);

  const WorkPlan plan_;
  HostDeviceLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace imgpack::testing
