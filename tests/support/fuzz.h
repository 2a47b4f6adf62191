// What a fuzzer file defines, for libFuzzer and for the plain replay program alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Runs the code under test; a crash, a sanitizer report or a false return of a check fails.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace imgpack::testing {

/// Valid inputs to start from, made by the fuzzer itself: no corpus files are kept.
std::vector<std::vector<std::byte>> fuzz_seeds();

}  // namespace imgpack::testing
