// The three checks of a packed dataset.
#include <filesystem>
#include <functional>
#include <memory>

#include <nanobind/stl/filesystem.h>

#include "imgpack/dataset.h"
#include "imgpack/verify.h"
#include "python/native/background.h"
#include "python/native/bindings.h"

namespace imgpack::python {

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

struct Limits {
  unsigned threads;
  std::size_t max_damage;
  std::uint64_t max_pixels;
};

/// Runs one of the checks, which gets options that post to the board under the name `stage`.
template <class Report, class Check>
Report checked(const Limits& limits, const nb::object& progress, const char* stage, const Check& check) {
  Report report;
  run_in_background(progress, [&](ProgressBoard& board) {
    VerifyOptions options;
    options.threads = limits.threads;
    options.max_damage = limits.max_damage;
    options.max_pixels = limits.max_pixels;
    options.progress = [&board, stage](std::uint64_t done, std::uint64_t total) {
      return board.post({stage, done, total, 0});
    };
    report = check(options);
  });
  return report;
}

VerifyReport verify_file(const fs::path& path, const Limits& limits, const nb::object& progress) {
  return checked<VerifyReport>(limits, progress, "verifying",
                               [&](const VerifyOptions& options) { return verify(path, options); });
}

VerifyReport verify_decoding(const fs::path& path, const Limits& limits, const nb::object& progress) {
  return checked<VerifyReport>(limits, progress, "decoding",
                               [&](const VerifyOptions& options) { return verify_pixels(*open_store(path), options); });
}

SourceReport verify_against(const fs::path& path, const fs::path& source, const fs::path& work_dir,
                            const Limits& limits, const nb::object& progress) {
  return checked<SourceReport>(limits, progress, "comparing", [&](const VerifyOptions& options) {
    return verify_source(*open_store(path), source, work_dir, options);
  });
}

}  // namespace

void bind_verifying(nb::module_& module) {
  nb::class_<Limits>(module, "VerifyLimits")
      .def(
          "__init__",
          [](Limits* self, unsigned threads, std::size_t max_damage, std::uint64_t max_pixels) {
            new (self) Limits{threads, max_damage, max_pixels};
          },
          nb::arg("threads"), nb::arg("max_damage"), nb::arg("max_pixels"));
  module.def("verify_file", &verify_file, nb::arg("path"), nb::arg("limits"), nb::arg("progress").none(),
             "Container, index, checksums, keys, labels and counts.");
  module.def("verify_decoding", &verify_decoding, nb::arg("path"), nb::arg("limits"), nb::arg("progress").none(),
             "Decodes every record.");
  module.def("verify_against", &verify_against, nb::arg("path"), nb::arg("source"), nb::arg("work_dir"),
             nb::arg("limits"), nb::arg("progress").none(), "Compares every record with its source.");
  module.attr("DEFAULT_MAX_PIXELS") = kDefaultMaxPixels;
}

}  // namespace imgpack::python
