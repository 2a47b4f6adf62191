// What is measured, and how long: the measurements are functions of a subject.
//
//   const Measurement measure = measurement_of(Measure::random);
//   const MeasureRun run = measure({.subject = *subject, .options = {.seconds = 2}, .seed = 1});
//   const double images_per_second = run.rate();
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"

namespace imgpack::measure {

class Subject;

enum class Measure : std::uint8_t {
  open,    ///< from nothing to the bytes of the first image, again and again
  seq,     ///< every byte of every image, in the order of the dataset; one thread
  random,  ///< the same in random order
  decode,  ///< whole images to RGB, in random order; one thread
  loader,  ///< augmented batches in host memory, as fast as they come
  gpu,     ///< augmented batches in a GPU's memory, as fast as they come
  train,   ///< batches for a consumer that works for a given time on each
};
/// "open", "seq", ...
std::string_view to_string(Measure measure) noexcept;
std::optional<Measure> measure_from_name(std::string_view name) noexcept;
/// What a run counts, for people: "images/s", or "opens/s".
std::string_view unit_of(Measure measure) noexcept;
/// Whether it measures batches: loader, gpu and train.
bool is_loading(Measure measure) noexcept;

struct MeasureOptions {
  double seconds = 1;  ///< after which a run ends
  /// A run also ends when each image was read once: of a second pass the page cache would do the work.
  bool single_pass = false;
  std::function<bool()> stop = {};  ///< asked between images and batches; true ends the run early

  // Of loader, gpu and train.
  std::uint32_t batch_size = 64;
  unsigned threads = 0;        ///< that decode; 0: the CPUs that this process may use
  std::string device = "cpu";  ///< where train makes its batches; gpu: "cuda" if this is "cpu"
  double step_seconds = 0;     ///< train: how long the consumer works on a batch
  bool past_cache = false;     ///< packed datasets are read from disk, whatever is in memory
  std::vector<Augmentation> transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()};
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
};

struct MeasureContext {
  const Subject& subject;
  const MeasureOptions& options;
  std::uint64_t seed = 0;  ///< of random orders and augmentation; the same for all subjects that are compared
};

/// What one run has done.
struct MeasureRun {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;  ///< of images as they are stored, which were read for the samples
  double seconds = 0;
  double cpu_seconds = 0;   ///< of all threads of the process meanwhile: steadier where others use the machine
  std::uint64_t steps = 0;  ///< batches
  double work_seconds = 0;  ///< of the consumer; the rest of `seconds` it waited
  std::string transport;    ///< of the loader: how records come to a CUDA device

  /// Samples a second.
  double rate() const noexcept { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
};

/// Does one run. Preparation (opening, starting threads, the first batch unless each image counts once) is not timed.
/// Throws damaged where an image can't be read, and what opening the subject and making a loader throw.
using Measurement = std::function<MeasureRun(const MeasureContext&)>;

Measurement measurement_of(Measure measure);

/// Why the measure has no meaning for that subject; nothing where it has one.
std::optional<std::string> not_applicable(Measure measure, const Subject& subject, const MeasureOptions& options);

/// Where `measure` makes batches: "cpu", "cuda", "cuda:1", ...
std::string device_of(Measure measure, const MeasureOptions& options);

}  // namespace imgpack::measure
