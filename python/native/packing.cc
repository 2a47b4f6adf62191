// Building, converting and merging, with their options as objects whose attributes are set one by one.
#include <filesystem>
#include <string>
#include <vector>

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "imgpack/build.h"
#include "python/native/background.h"
#include "python/native/bindings.h"
#include "python/native/choices.h"
#include "python/native/released.h"

namespace imgpack::python {

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

std::string_view stage_name(BuildProgress::Stage stage) {
  switch (stage) {
    case BuildProgress::Stage::scanning:
      return "scanning";
    case BuildProgress::Stage::packing:
      return "packing";
    case BuildProgress::Stage::finishing:
      break;
  }
  return "finishing";
}

using Packing = BuildReport (*)(const fs::path&, const fs::path&, const BuildOptions&);

template <Packing pack>
BuildReport packed(const fs::path& source, const fs::path& output, BuildOptions options, const nb::object& progress) {
  BuildReport report;
  run_in_background(progress, [&](ProgressBoard& board) {
    options.progress = [&board](const BuildProgress& now) {
      return board.post({stage_name(now.stage), now.entries_done, now.entries_total, now.bytes_done});
    };
    report = pack(source, output, options);
  });
  return report;
}

void set_metadata(BuildOptions& self, const nb::dict& values) {
  self.metadata.clear();
  for (const auto& [key, value] : values) {
    self.metadata[bytes_of(nb::cast<nb::str>(key))] = bytes_of(nb::cast<nb::str>(value));
  }
}

void bind_transform(nb::module_& module) {
  nb::class_<Transform> transform(module, "Transform", "What is made of each image before it is stored.");
  transform.def(nb::init<>())
      .def_rw("resize", &Transform::resize)
      .def_rw("upscale", &Transform::upscale)
      .def_rw("quality", &Transform::quality, nb::arg().none())
      .def_rw("zstd_level", &Transform::zstd_level, nb::arg().none())
      .def_rw("normalize", &Transform::normalize)
      .def_rw("index", &Transform::index)
      .def_rw("apply_exif_orientation", &Transform::apply_exif_orientation)
      .def("check", &Transform::check, "Raises InvalidArgumentError where options contradict each other.");
  def_choice(transform, {"encode", &encode_from_name, Encode::raw}, &Transform::encode);
  def_choice(transform, {"jpeg", &jpeg_handling_from_name, JpegHandling::restart}, &Transform::jpeg);
  def_choice(transform, {"resize_mode", &resize_mode_from_name, ResizeMode::center_crop}, &Transform::resize_mode);
  def_choice(transform, {"interpolation", &interpolation_from_name, Interpolation::lanczos}, &Transform::interpolation);
  def_choice(transform, {"subsampling", &subsampling_from_name, Subsampling::s420}, &Transform::subsampling);
}

void bind_options(nb::module_& module) {
  nb::class_<BuildOptions> options(module, "BuildOptions", "Options of build() and convert().");
  options.def(nb::init<>())
      .def_rw("threads", &BuildOptions::threads)
      .def_rw("resume", &BuildOptions::resume)
      .def_rw("overwrite", &BuildOptions::overwrite)
      .def_rw("work_dir", &BuildOptions::work_dir)
      .def_rw("dry_run", &BuildOptions::dry_run)
      .def_rw("limit", &BuildOptions::limit)
      .def_rw("shuffle_seed", &BuildOptions::shuffle_seed, nb::arg().none())
      .def_rw("shards", &BuildOptions::shards)
      .def_rw("shard_size", &BuildOptions::shard_size)
      .def_rw("only_shard", &BuildOptions::only_shard, nb::arg().none())
      .def_rw("transform", &BuildOptions::transform, nb::arg().none())
      .def_rw("alignment", &BuildOptions::alignment)
      .def_rw("max_pixels", &BuildOptions::max_pixels)
      .def_prop_rw(
          "skip_errors", [](const BuildOptions& self) { return self.on_error == OnError::skip; },
          [](BuildOptions& self, bool skip) { self.on_error = skip ? OnError::skip : OnError::stop; })
      .def("set_metadata", &set_metadata, nb::arg("values"),
           nb::sig("def set_metadata(self, values: dict[str, str]) -> None"));
  def_choice(options, {"format", &format_from_name, Format::tfrecord}, &BuildOptions::format);
}

}  // namespace

void bind_packing(nb::module_& module) {
  nb::class_<Progress>(module, "Progress", "How far a build, a conversion or a check is.")
      .def_prop_ro(
          "stage", [](const Progress& self) { return text(self.stage); },
          "\"scanning\", \"packing\", \"finishing\"; \"verifying\", \"decoding\", \"comparing\".")
      .def_ro("done", &Progress::done, "Entries of the source, or records.")
      .def_ro("total", &Progress::total, "Of the same; 0 while it is not known.")
      .def_ro("bytes", &Progress::bytes, "Bytes of images packed so far; 0 where they are not counted.")
      .def("__repr__", [](const Progress& self) {
        return nb::str("Progress(stage={!r}, done={}, total={}, bytes={})")
            .format(text(self.stage), self.done, self.total, self.bytes);
      });
  bind_transform(module);
  bind_options(module);
  module.def("build", &packed<&build>, nb::arg("source"), nb::arg("output"), nb::arg("options"),
             nb::arg("progress").none());
  module.def("convert", &packed<&convert>, nb::arg("input"), nb::arg("output"), nb::arg("options"),
             nb::arg("progress").none());
  module.def("merge", &merge, nb::arg("output"), nb::arg("inputs"), nb::arg("overwrite"), nb::call_guard<Released>());
}

}  // namespace imgpack::python
