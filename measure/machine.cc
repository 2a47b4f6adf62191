#include "measure/machine.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

/// "NAME   : VALUE" -> VALUE of the first line with that name.
std::string value_of(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
  }
  return {};
}

}  // namespace

double load_average(const fs::path& root) {
  std::ifstream file(root / "proc/loadavg");
  double load = -1;
  return file >> load ? load : -1;
}

std::string cpu_model(const fs::path& root) {
  return value_of(root / "proc/cpuinfo", "model name");
}

std::vector<std::string> gpu_models(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (fs::directory_iterator entry(root / "proc/driver/nvidia/gpus", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    folders.push_back(entry->path());
  }
  std::ranges::sort(folders);
  std::vector<std::string> models;
  for (const fs::path& folder : folders) models.push_back(value_of(folder / "information", "Model"));
  return models;
}

}  // namespace imgpack::measure
