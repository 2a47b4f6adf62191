#include "tools/bench_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "tools/text.h"

namespace imgpack::tools {

using measure::Measure;
using measure::Row;

namespace {

constexpr double kNoisySpread = 0.1;

std::string leftover_text(const measure::Eviction& eviction) {
  return fmt::format("{} of {} stayed in memory: {}", size_text(static_cast<double>(eviction.after.resident_bytes)),
                     size_text(static_cast<double>(eviction.after.total_bytes)), eviction.obstacle);
}

}  // namespace

const Row* BenchReport::baseline_of(const Row& row) const {
  const auto found = std::ranges::find_if(
      rows, [&](const Row& other) { return other.measure == row.measure && other.subject == baseline; });
  return found == rows.end() || !found->measured() ? nullptr : &*found;
}

std::optional<double> BenchReport::speed_of(const Row& row) const {
  const Row* base = baseline_of(row);
  if (base == nullptr || !row.measured()) return std::nullopt;
  const double base_rate = base->rates().median;
  if (base_rate <= 0) return std::nullopt;
  return row.rates().median / base_rate;
}

bool BenchReport::speed_is_clear(const Row& row) const {
  const Row* base = baseline_of(row);
  return base == &row || (base != nullptr && measure::differ(row.rates(), base->rates()));
}

std::string BenchReport::gpu_of(const Row& row) const {
  const std::string device = measure::device_of(row.measure, options.run);
  if (device == "cpu") return "none";
  // CUDA numbers GPUs in an order of its own: a model is named only where there is no other.
  const std::set<std::string> models(machine.gpus.begin(), machine.gpus.end());
  return models.size() == 1 ? fmt::format("{} ({})", device, *models.begin()) : device;
}

std::optional<double> BenchReport::gpu_efficiency_of(const Row& row) const {
  if (row.measure != Measure::train || !row.measured()) return std::nullopt;
  std::vector<double> shares;
  for (const measure::RowRun& run : row.runs) shares.push_back(ratio(run.run.work_seconds, run.run.seconds));
  return measure::summarize(shares).median;
}

std::string BenchReport::note_of(const Row& row) const {
  if (!row.reason.empty()) return row.reason;
  if (row.failure) return row.failure->what();
  const std::optional<measure::Eviction> eviction = row.worst_eviction();
  if (eviction && !eviction->complete()) return "not cold: " + leftover_text(*eviction);
  return {};
}

bool is_noisy(const measure::Summary& rates) noexcept {
  return rates.spread() > kNoisySpread;
}

std::vector<std::string> short_labels(const std::vector<std::string>& files) {
  std::vector<std::string> labels;
  for (const std::string& file : files) {
    std::filesystem::path path = std::filesystem::path(file).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    labels.push_back(path.filename().empty() ? file : path.filename().string());
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool unique = std::ranges::count(labels, labels[i]) == 1;
    if (!unique) {
      const std::string ambiguous = labels[i];
      for (std::size_t j = 0; j < files.size(); ++j) {
        if (labels[j] == ambiguous) labels[j] = files[j];
      }
    }
  }
  return labels;
}

std::string rate_number(double rate) {
  if (rate >= 1e15) return fmt::format("{:.3g}", rate);
  if (rate >= 100) return count_text(static_cast<std::uint64_t>(std::llround(rate)));
  return fmt::format("{:.{}f}", rate, rate >= 10 ? 1 : 2);
}

}  // namespace imgpack::tools
