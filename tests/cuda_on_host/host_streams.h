// CUDA's streams and events on the host. What is queued is done at any time that their rules allow: some of it when
// something else is queued, at random, and the rest when somebody waits for it; some streams lag for a while. So work
// that does not wait for what it needs, or for memory that is still in use, finds something else there, mostly.
// IMGPACK_STREAM_SEED, a number, makes another random order.
#pragma once

#include <functional>

namespace imgpack::testing {

class HostStream;
class HostEvent;

// All are thread-safe. The null stream is one as others are.

HostStream* make_stream(int device);
/// What is left will still be done.
void destroy_stream(HostStream* stream);
int device_of(const HostStream& stream);
/// REQUIRES: `work` does not queue or wait for anything, nor for a thread that does.
void queue(HostStream* stream, std::function<void()> work);

HostEvent* make_event(int device, bool timed);
void destroy_event(HostEvent* event);
int device_of(const HostEvent& event);
bool is_timed(const HostEvent& event);
void record(HostEvent& event, HostStream* stream);
/// For what was recorded last, if there is anything.
void let_wait(HostStream* stream, const HostEvent& event);
/// Of what was recorded last; true if nothing was.
bool is_over(const HostEvent& event);
/// REQUIRES: both were recorded, and are over.
float milliseconds_between(const HostEvent& begin, const HostEvent& end);

void finish(const HostEvent& event);
void finish(HostStream* stream);
void finish_all_streams();

}  // namespace imgpack::testing
