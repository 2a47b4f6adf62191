// What to do about the bound, and whether a wanted rate can be reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/diagnosis.h"
#include "measure/variants.h"

namespace imgpack::measure {

/// What was found out about a dataset on a machine.
struct Situation {
  std::string dataset;              ///< as it was named
  std::vector<StageFigure> stages;  ///< that images pass now; those of the present configuration
  Summary together = {};            ///< images a second of all stages at once; no runs: not measured
  std::vector<StageFigure> sweep;   ///< of the CPU's stage, with different numbers of threads
  std::optional<StageFigure> gpu;   ///< batches made on the GPU, if that is not what is done now
  std::vector<VariantFigure> variants;
  std::uint64_t images = 0;
  unsigned threads = 0;              ///< that the present configuration has
  std::size_t value_bytes = 4;       ///< of a value in a batch
  double disk_bytes_per_second = 0;  ///< 0: unknown, or there is no disk
  double memory_bytes = 0;           ///< that the page cache may take: what is larger is read from disk in each epoch
  bool cold = false;                 ///< whatever there is is read from disk in each epoch
};

/// One way to go faster.
struct Remedy {
  std::string what;     ///< "4 threads", "decoding on the GPU", "packing as JPEG, shorter side 256"
  std::string command;  ///< that does it, or shows it; a program's option where there is no command
  double rate = 0;      ///< images a second that all stages together would allow, as far as measurements tell
};

struct Advice {
  Diagnosis diagnosis;
  std::string sentence;
  std::string command;           ///< empty if nothing is to be done
  std::vector<Remedy> remedies;  ///< of the bound; the least change first
};

struct TargetAnswer {
  double wanted = 0;
  bool reached = false;          ///< as it is
  std::optional<Remedy> remedy;  ///< the least change that would reach it
  std::string sentence;
};

Advice advise(const Situation& situation);
TargetAnswer answer_target(const Situation& situation, const Advice& advice, double images_per_second);

}  // namespace imgpack::measure
