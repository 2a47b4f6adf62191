// What a measurement was made on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imgpack::measure {

/// Processes that run or want to, on average over the last minute; negative if unknown. `root` has proc/loadavg.
double load_average(const std::filesystem::path& root = "/");

/// The name of the first CPU; empty if unknown. `root` has proc/cpuinfo.
std::string cpu_model(const std::filesystem::path& root = "/");

/// The models of the GPUs that NVIDIA's driver knows, in the order of their places on the bus. `root` has
/// proc/driver/nvidia/gpus/*/information.
std::vector<std::string> gpu_models(const std::filesystem::path& root = "/");

}  // namespace imgpack::measure
