// SIGINT and SIGTERM as a flag, so that a long command can stop at a point from which it can be resumed.
#pragma once

namespace imgpack::tools {

/// From now on the first SIGINT or SIGTERM is only noted; a second one ends the process as usual. May be called again,
/// from the same thread, without effect.
void catch_interrupts();

/// The signal that was noted, or 0.
int interrupted_by() noexcept;

/// Throws Error(invalid_argument, "cancelled") if a signal was noted.
void stop_if_interrupted();

}  // namespace imgpack::tools
