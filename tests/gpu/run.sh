#!/bin/bash
# Tests and measures the CUDA part on this machine's GPU.
#
#   tests/gpu/run.sh [BUILD_DIR] [IMAGES]
#
# BUILD_DIR (build/gpu) is configured and built if need be, as a release with CUDA, tests and benchmarks, for this GPU
# alone; an existing one keeps its settings. Then run the tests with label gpu, and the benchmarks: transports always,
# and with IMAGES, a folder of JPEGs, nvJPEG and PyTorch's ways as baselines, where they are installed. Results are
# printed and written to BUILD_DIR/gpu-results/*.json. Installs nothing.
#
# Environment: IMGPACK_GPU_GIGABYTES (2), size of the file of the transport benchmark; IMGPACK_GPU_FOLDER (/tmp), where
# it lies; IMGPACK_GPU_PYTHON (python3), an interpreter with torch and torchvision.
#
# Exit status: 0 if all tests passed and no benchmark failed; a baseline that is not installed is no failure.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build_dir=${1:-$source_dir/build/gpu}
images=${2:-}
python=${IMGPACK_GPU_PYTHON:-python3}
results=$build_dir/gpu-results
failed=()

if ! command -v nvidia-smi > /dev/null || ! nvidia-smi -L > /dev/null; then
  echo "run.sh: there is no GPU here (nvidia-smi does not list any)" >&2
  exit 1
fi
if [[ -n $images && ! -d $images ]]; then
  echo "run.sh: $images is no folder" >&2
  exit 1
fi

if [[ ! -f $build_dir/CMakeCache.txt ]]; then
  generator=()
  if command -v ninja > /dev/null; then generator=(-G Ninja); fi
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d '. ')
  cmake -S "$source_dir" -B "$build_dir" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DIMGPACK_WITH_CUDA=ON \
    -DIMGPACK_BUILD_BENCHMARKS=ON -DIMGPACK_TEST_PYTHON=OFF -DCMAKE_CUDA_ARCHITECTURES="$capability"
fi

cmake --build "$build_dir" --parallel "$(nproc)" --target gpu_tests gpu_benchmarks

mkdir -p "$results"
echo "== tests"
if ! ctest --test-dir "$build_dir" -L gpu --output-on-failure --no-tests=error; then failed+=(tests); fi

# measure NAME COMMAND...: a benchmark that writes NAME.json.
measure() {
  local name=$1
  shift
  echo "== $name"
  if ! "$@" --json "$results/$name.json"; then failed+=("$name"); fi
}

measure transport "$build_dir/benchmarks/gpu_transport_benchmark" \
  --gigabytes "${IMGPACK_GPU_GIGABYTES:-2}" --folder "${IMGPACK_GPU_FOLDER:-/tmp}" --blocks 0 66 132

if [[ -n $images ]]; then
  if [[ -x $build_dir/benchmarks/nvjpeg_baseline ]]; then
    measure nvjpeg "$build_dir/benchmarks/nvjpeg_baseline" "$images"
  else
    echo "== nvjpeg: not built, as CMake found no nvJPEG"
  fi
  if "$python" -c 'import sys, torch, torchvision; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    measure pytorch "$python" "$source_dir/benchmarks/gpu_baselines.py" "$images"
  else
    echo "== pytorch: $python has no torch and torchvision that see the GPU"
  fi
fi

echo "== results in $results"
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all passed"
