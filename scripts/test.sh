#!/usr/bin/env bash
# Builds and tests everything: optimised, and once more under the address and undefined-behaviour sanitizers.
#   scripts/test.sh [PRESET...]      default: dev asan-ubsan
# With a CUDA compiler, dev builds the CUDA part too; its tests need a GPU: tests/gpu/run.sh.
# With CI=true warnings are errors.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(dev asan-ubsan)
warnings=OFF
[ "${CI:-}" = true ] && warnings=ON
jobs=$(nproc)

"$root/scripts/install_packages.sh" "$root/scripts/packages.txt" "$root/scripts/test_packages.txt" \
  "$root/scripts/browser_packages.txt"
cd "$root"
# ccache finds what another checkout has compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

for preset in "${presets[@]}"; do
  printf '\n== %s: build\n' "$preset"
  cmake --preset "$preset" -DIMGPACK_WARNINGS_AS_ERRORS=$warnings
  cmake --build --preset "$preset" --parallel "$jobs"
done

for preset in "${presets[@]}"; do
  printf '\n== %s: tests\n' "$preset"
  ctest --preset "$preset" --parallel "$jobs"
done
