// The training run. This header does not include libtorch, which takes long to compile.
#pragma once

#include <atomic>
#include <iosfwd>

#include "examples/train_cpp/options.h"

namespace trainer {

enum class Ending {
  finished,
  stopped,  ///< before the last epoch, with a checkpoint if there is a name for one
};

/// Trains until the last epoch, options.stop_after, or until `stop` is set, which ends the run after the step that is
/// under way. Writes a line about the run and one for each epoch. Throws imgpack::Error and what libtorch throws.
Ending train(const Options& options, const std::atomic<bool>& stop, std::ostream& out);

}  // namespace trainer
