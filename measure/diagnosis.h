// Which stage bounds the rate of all.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "measure/stage.h"

namespace imgpack::measure {

struct Diagnosis {
  std::optional<Stage> bound;   ///< the slowest stage; nothing if there is none
  std::vector<Stage> as_close;  ///< others that may as well be, as far as measuring can tell; slower ones first
  double rate = 0;              ///< images a second that the bound allows

  bool clear() const noexcept { return bound.has_value() && as_close.empty(); }
};

/// Of stages that all images pass, one after the other in time or not. Those without figures are left out. A stage is
/// as close as the slowest if the middle halves of their rates touch, or their medians are within a tenth.
Diagnosis diagnose(std::span<const StageFigure> stages);

/// The smallest number of threads whose median rate is at least 95 % of the best, of figures with different numbers of
/// threads; 0 for none.
unsigned enough_threads(std::span<const StageFigure> sweep);

}  // namespace imgpack::measure
