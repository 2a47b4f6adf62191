// Images made by the device, compared with what SampleMaker makes of the same records and plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "imgpack/record.h"
#include "reader/augment/sample_plan.h"
#include "reader/gpu/cuda_device.h"

namespace imgpack::testing {

/// A record in memory.
struct TestRecord {
  RecordMeta meta;
  std::vector<std::byte> payload;
  std::vector<std::byte> segments;
  RecordBytes bytes() const { return {payload, segments}; }
};

/// Of an indexable JPEG file; `segment_mcus` as in IndexOptions. Throws std::runtime_error if it is none.
TestRecord jpeg_record(std::vector<std::byte> file, std::uint32_t segment_mcus = 0);
/// Of pixels, height x width x 3.
TestRecord raw_record(std::uint32_t width, std::uint32_t height, std::vector<std::byte> pixels);

/// One stage: that part of the image as it is.
SamplePlan crop_plan(const Rect& crop);

struct ImageOutcome {
  bool host_ok = false;    ///< what SampleMaker says
  bool device_ok = false;  ///< what the device says, or SampleMaker where the device leaves the record to the host
  bool by_host = false;
  bool equal = false;  ///< both are ok, and all bytes are the same
};

/// One device of one format; images may be as large as `capacity` and need not be alike.
class DeviceImages {
 public:
  DeviceImages(const PixelFormat& format, ImageSize capacity, std::uint64_t scratch_bytes = 0);
  ~DeviceImages();

  struct Item {
    const TestRecord* record = nullptr;
    SamplePlan plan;
  };
  /// Makes all of them in batches of up to 256.
  std::vector<ImageOutcome> make(std::span<const Item> items);
  BatchDevice& device() { return *device_; }
  const BatchFormat& batch() const { return batch_; }

 private:
  void make_batch(std::span<const Item> items, std::vector<ImageOutcome>& outcomes);

  PixelFormat format_;
  BatchFormat batch_;
  std::unique_ptr<BatchDevice> device_;
};

}  // namespace imgpack::testing
