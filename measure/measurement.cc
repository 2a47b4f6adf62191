#include "measure/measurement.h"

#include "measure/measurements.h"
#include "measure/subject.h"
#include "mmap/enum_names.h"

namespace imgpack::measure {

namespace {

constexpr EnumNames<Measure, 7> kNames = {{{Measure::open, "open"},
                                           {Measure::seq, "seq"},
                                           {Measure::random, "random"},
                                           {Measure::decode, "decode"},
                                           {Measure::loader, "loader"},
                                           {Measure::gpu, "gpu"},
                                           {Measure::train, "train"}}};

}  // namespace

std::string_view to_string(Measure measure) noexcept {
  return name_of(kNames, measure);
}

std::optional<Measure> measure_from_name(std::string_view name) noexcept {
  return value_of(kNames, name);
}

std::string_view unit_of(Measure measure) noexcept {
  return measure == Measure::open ? "opens/s" : "images/s";
}

bool is_loading(Measure measure) noexcept {
  return measure == Measure::loader || measure == Measure::gpu || measure == Measure::train;
}

Measurement measurement_of(Measure measure) {
  switch (measure) {
    case Measure::open:
      return &measure_open;
    case Measure::seq:
      return &measure_seq;
    case Measure::random:
      return &measure_random;
    case Measure::decode:
      return &measure_decode;
    case Measure::loader:
    case Measure::gpu:
    case Measure::train:
      break;
  }
  return [measure](const MeasureContext& context) { return measure_batches(measure, context); };
}

std::string device_of(Measure measure, const MeasureOptions& options) {
  if (measure == Measure::train) return options.device;
  if (measure == Measure::gpu) return options.device == "cpu" ? "cuda" : options.device;
  return "cpu";
}

std::optional<std::string> not_applicable(Measure measure, const Subject& subject, const MeasureOptions& options) {
  if (subject.size() == 0) return "it has no images";
  if (is_loading(measure) && subject.is_folder() && device_of(measure, options) != "cpu") {
    return "loose files are loaded into host memory only";
  }
  return std::nullopt;
}

}  // namespace imgpack::measure
