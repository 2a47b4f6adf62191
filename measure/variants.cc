#include "measure/variants.h"

#include <cerrno>
#include <optional>
#include <utility>

#include <stdlib.h>

#include <fmt/format.h>

#include "imgpack/build.h"
#include "imgpack/error.h"
#include "measure/contest.h"
#include "measure/measurements.h"
#include "measure/subject.h"
#include "mmap/system_error.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;

struct Variant {
  const char* name;
  const char* options;
  std::optional<Transform> transform;
};

std::vector<Variant> all_variants() {
  return {
      {"as it is", "", std::nullopt},
      {"restart markers", "--jpeg restart", Transform{.jpeg = JpegHandling::restart}},
      {"JPEG, shorter side 256", "--encode jpeg --resize 256", Transform{.encode = Encode::jpeg, .resize = 256}},
      {"raw 256x256", "--encode raw --resize 256 --resize-mode center-crop --upscale",
       Transform{.encode = Encode::raw, .resize = 256, .resize_mode = ResizeMode::center_crop, .upscale = true}},
  };
}

/// A folder that goes with everything in it.
class Folder {
 public:
  explicit Folder(const fs::path& parent) {
    std::string name = (parent / "imgpack-variants-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw system_error(errno, "make a folder for variants", parent);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

/// Packs and opens it; nothing, and the reason in `figure`, if it can't be made.
std::unique_ptr<Subject> pack(const std::string& dataset, const Variant& variant, const fs::path& output,
                              const VariantOptions& options, VariantFigure& figure) {
  try {
    const BuildReport report =
        convert(dataset, output,
                {.format = Format::rec,
                 .threads = options.run.threads,
                 .on_error = OnError::skip,
                 .limit = options.images,
                 .transform = variant.transform,
                 .progress = [&options](const BuildProgress&) { return !options.run.stop || !options.run.stop(); }});
    figure.bytes_per_image =
        static_cast<double>(report.payload_bytes) / static_cast<double>(std::max<std::uint64_t>(1, report.records));
    return open_subject(output.string());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io || error.code() == ErrorCode::damaged) throw;
    figure.reason = error.message();
    return nullptr;
  }
}

}  // namespace

std::vector<VariantFigure> try_variants(const std::string& dataset, const VariantOptions& options) {
  const Folder folder(options.folder);
  std::vector<VariantFigure> figures;
  std::vector<std::unique_ptr<Subject>> subjects;
  std::vector<std::size_t> numbers;  // of the figure of each contestant
  std::vector<std::function<MeasureRun(const Turn&)>> contestants;
  for (const Variant& variant : all_variants()) {
    VariantFigure& figure = figures.emplace_back(VariantFigure{.name = variant.name, .options = variant.options});
    auto subject = pack(dataset, variant, folder.path() / fmt::format("{}.rec", figures.size()), options, figure);
    if (!subject) continue;
    numbers.push_back(figures.size() - 1);
    contestants.push_back([&options, kept = subject.get()](const Turn& turn) {
      return measure_batches(Measure::loader,
                             {.subject = *kept, .options = options.run, .seed = options.seed + turn.round});
    });
    subjects.push_back(std::move(subject));
  }
  const std::vector<ContestResult> results =
      hold_contest(contestants, {.rounds = options.rounds, .stop = options.run.stop});
  for (std::size_t i = 0; i < results.size(); ++i) {
    VariantFigure& figure = figures[numbers[i]];
    if (results[i].failure) {
      figure.reason = results[i].failure->message();
      continue;
    }
    std::vector<double> rates;
    for (const MeasureRun& run : results[i].runs) rates.push_back(run.rate());
    figure.rates = summarize(rates);
  }
  return figures;
}

}  // namespace imgpack::measure
