// States of loaders come out of checkpoints: anything may stand there.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "imgpack/error.h"
#include "imgpack/loader_state.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

using imgpack::LoaderState;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const LoaderState state = LoaderState::from_json({reinterpret_cast<const char*>(data), size});
    // What is understood is what to_json() writes.
    if (LoaderState::from_json(state.to_json()) != state) __builtin_trap();
  } catch (const imgpack::Error& error) {
    if (error.code() != imgpack::ErrorCode::invalid_argument) __builtin_trap();
  }
  return 0;
}

namespace imgpack::testing {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const LoaderState& state :
       {LoaderState{},
        LoaderState{.epoch = 3, .samples = 5120, .seed = ~std::uint64_t{0}, .order = 0x123456789abcdef0}}) {
    const std::string text = state.to_json();
    const std::span<const std::byte> bytes = as_bytes(text);
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}

}  // namespace imgpack::testing
