#!/bin/bash
# Tests and measures the CUDA part on this machine's GPU.
#
#   tests/gpu/run.sh [BUILD_DIR] [IMAGES]
#
# BUILD_DIR (build/gpu) is configured and built if need be, as a release with CUDA, tests and benchmarks, for this GPU
# alone; an existing one keeps its settings. Then run the tests with label gpu, and the benchmarks: transports always,
# and with IMAGES, a folder of class folders of JPEGs, loaders on about 20,000 copies of them, with nvJPEG, PyTorch's ways
# and training steps beside them, where they are installed. Results are printed, last as one table, and written to
# BUILD_DIR/gpu-results/*.json. Installs nothing.
#
# Environment: IMGPACK_GPU_GIGABYTES (2), size of the file of the transport benchmark; IMGPACK_GPU_FOLDER (/tmp), where
# it and the packed images lie (10 GB); IMGPACK_GPU_PYTHON (python3), an interpreter with torch and torchvision, and for
# training with imgpack.
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

cmake --build "$build_dir" --parallel "$(nproc)" --target gpu_tests gpu_benchmarks imgpack

mkdir -p "$results"
echo "== tests"
if ! ctest --test-dir "$build_dir" -L gpu --output-on-failure --no-tests=error; then failed+=(tests); fi

# measure NAME COMMAND...: a benchmark that writes NAME.json.
measure() {
  local name=$1
  shift
  echo "== $name, after $SECONDS s"
  if ! "$@" --json "$results/$name.json"; then failed+=("$name"); fi
}

# Long rounds: shorter ones show more CPU time than there is in the long run.
measure transport "$build_dir/benchmarks/gpu_transport_benchmark" --batches 256 1024 --seconds 1.5 --rounds 2 \
  --gigabytes "${IMGPACK_GPU_GIGABYTES:-2}" --folder "${IMGPACK_GPU_FOLDER:-/tmp}"

# loaders NAME ARGUMENTS...: as measure, of gpu_loader_benchmark.
loaders() {
  local name=$1
  shift
  measure "loader-$name" "$build_dir/benchmarks/gpu_loader_benchmark" "$@"
}

if [[ -n $images ]]; then
  work=${IMGPACK_GPU_FOLDER:-/tmp}/imgpack-gpu-run
  rm -rf "$work"
  mkdir -p "$work"
  trap 'rm -rf "$work"' EXIT
  count=$(find "$images" -type f | wc -l)
  "$python" "$source_dir/benchmarks/many_copies.py" "$images" "$work/images/train" $((20000 / (count > 0 ? count : 1) + 1))
  "$build_dir/tools/imgpack" build "$work/images" "$work/jpeg.rec"
  "$build_dir/tools/imgpack" build "$work/images" "$work/raw.rec" \
    --encode raw --resize 256 --resize-mode exact --upscale
  measure images-1024 "$build_dir/benchmarks/gpu_images_benchmark" "$work/jpeg.rec" --batch 1024
  for batch in 256 512 1024; do
    loaders "random-$batch" "$work/jpeg.rec" --batch "$batch" --threads 2
    loaders "raw-$batch" "$work/raw.rec" --batch "$batch" --threads 1 --transform raw
  done
  loaders paced-256 "$work/jpeg.rec" --threads 2 --rate 130000
  loaders paced-1024 "$work/jpeg.rec" --batch 1024 --threads 2 --rate 200000
  loaders paced-1024-aim "$work/jpeg.rec" --batch 1024 --threads 2 --rate 300000
  loaders center-256 "$work/jpeg.rec" --threads 2 --transform center
  loaders pinned-256 "$work/jpeg.rec" --threads 8 --transport pinned
  loaders raw-pinned-256 "$work/raw.rec" --threads 8 --transport pinned --transform raw
  if (($(nvidia-smi -L | wc -l) >= 2)); then
    loaders random-256-x2 "$work/jpeg.rec" --threads 2 --devices 2
    loaders random-1024-x2 "$work/jpeg.rec" --batch 1024 --threads 2 --devices 2
  fi
  if "$python" -c 'import sys, torch, torchvision, imgpack; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    measure training "$python" "$source_dir/benchmarks/gpu_training.py" "$work/jpeg.rec" --images "$work/images/train"
  else
    echo "== training: $python has no torch that sees the GPU, or no imgpack"
  fi
  if [[ -x $build_dir/benchmarks/nvjpeg_baseline ]]; then
    measure nvjpeg "$build_dir/benchmarks/nvjpeg_baseline" "$images" --threads 1 8 --seconds 0.4 --rounds 2
  else
    echo "== nvjpeg: not built, as CMake found no nvJPEG"
  fi
  if "$python" -c 'import sys, torch, torchvision; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
    measure pytorch "$python" "$source_dir/benchmarks/gpu_baselines.py" "$images" --raw-gigabytes 2 --seconds 2
  else
    echo "== pytorch: $python has no torch and torchvision that see the GPU"
  fi
fi

echo "== results in $results"
"$python" "$source_dir/tests/gpu/summary.py" "$results"
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all passed"
