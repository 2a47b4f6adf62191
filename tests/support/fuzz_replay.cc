// Runs a fuzzer without libFuzzer: on its seeds, on deterministic mutations of them, and on the files named as
// arguments.
//   X_replay                 seeds and mutations
//   X_replay FILE...         those files, for reproducing a finding
//   X_replay --write DIR     writes the seeds into DIR as a libFuzzer corpus
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "tests/support/files.h"
#include "tests/support/fuzz.h"

namespace {

using Bytes = std::vector<std::byte>;
constexpr int kMutationsPerSeed = 3000;

void run(const Bytes& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

Bytes mutate(const Bytes& seed, std::mt19937& random) {
  Bytes out = seed;
  const auto below = [&random](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes && !out.empty(); ++i) {
    const std::size_t at = below(out.size());
    switch (below(6)) {
      case 0:
        out[at] ^= std::byte(1u << below(8));
        break;
      case 1:
        out[at] = static_cast<std::byte>(random());
        break;
      case 2:
        out[at] = std::byte{0xff};
        break;
      case 3:
        out.resize(at);
        break;
      case 4:
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random()));
        break;
      default: {
        const std::size_t count = std::min<std::size_t>(below(16), out.size() - at);
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(at), out.begin() + static_cast<std::ptrdiff_t>(at + count));
      }
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace imgpack::testing;
  const std::vector<Bytes> seeds = fuzz_seeds();
  if (argc == 3 && std::string_view(argv[1]) == "--write") {
    for (std::size_t i = 0; i < seeds.size(); ++i)
      write_file(std::filesystem::path(argv[2]) / fmt::format("seed-{}", i), seeds[i]);
    return 0;
  }
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) run(read_file(argv[i]));
    return 0;
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds\n");
    return 1;
  }
  std::mt19937 random(20240601);
  std::size_t runs = 0;
  for (const Bytes& seed : seeds) {
    run(seed);
    for (int i = 0; i < kMutationsPerSeed; ++i) run(mutate(seed, random));
    runs += 1 + kMutationsPerSeed;
  }
  std::printf("%zu inputs\n", runs);
  return 0;
}
