// Automatic mixed precision for a part of a program, as torch.autocast of Python.
#pragma once

#include <c10/core/Device.h>

namespace trainer {

/// While it exists, and is enabled, what this thread computes forward on devices of that type is in bfloat16 where that
/// is good enough. One at a time.
class Autocast {
 public:
  Autocast(bool enabled, c10::DeviceType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool enabled_;
  c10::DeviceType type_;
};

/// Throws imgpack::Error (unsupported) where libtorch lacks what the network needs: before version 2, ReLU6's gradient
/// on CPUs.
void check_autocast(c10::Device device);

}  // namespace trainer
