#include "reader/torch/current_stream.h"

#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "imgpack/error.h"

namespace imgpack::torch {

namespace {

/// Newer versions have a function for it, under one of two names; older ones only say whether it is the default stream.
template <class Stream>
void* handle_of(const Stream& stream) {
  if constexpr (requires { stream.native_handle(); }) {
    return stream.native_handle();
  } else if constexpr (requires { stream.stream_handle(); }) {
    return stream.stream_handle();
  } else {
    if (stream.id() == 0) return nullptr;
    throw Error(ErrorCode::unsupported,
                "this version of libtorch does not tell what its current stream is: pass the stream to the functions "
                "that make tensors of a batch");
  }
}

}  // namespace

void* current_stream(c10::Device device) {
  return handle_of(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

}  // namespace imgpack::torch
