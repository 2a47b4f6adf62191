// What plan_jpeg() promises of a task, as a test can see it.
#pragma once

#include <string>

#include "reader/gpu/program/jpeg_planner.h"

namespace imgpack::gpu::testing {

/// The first promise that is broken, in words; empty if all are kept. `payload` and `part` are those of the call.
std::string broken_promise(const JpegTask& task, const JpegBytes& needed, std::span<const std::byte> payload,
                           const Rect& part);

}  // namespace imgpack::gpu::testing
