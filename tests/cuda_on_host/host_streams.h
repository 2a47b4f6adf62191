// CUDA's streams and events on the host. What is queued is done at any time that their rules allow: some of it when
// something else is queued, at random, and the rest when somebody waits for it. So work that does not wait for what it
// needs, or for memory that is still in use, finds something else there, sooner or later.
#pragma once

#include <functional>

namespace imgpack::testing {

class HostStream;
class HostEvent;

// All are thread-safe. The null stream does everything at once.

HostStream* make_stream();
/// Does what is left.
void destroy_stream(HostStream* stream);
void queue(HostStream* stream, std::function<void()> work);

HostEvent* make_event();
void destroy_event(HostEvent* event);
void record(HostEvent& event, HostStream* stream);
/// For what was recorded last, if there is anything.
void let_wait(HostStream* stream, const HostEvent& event);

bool is_over(const HostEvent& event);
/// REQUIRES: both are over.
float milliseconds_between(const HostEvent& begin, const HostEvent& end);

void finish(const HostEvent& event);
void finish(HostStream* stream);
void finish_all_streams();

}  // namespace imgpack::testing
