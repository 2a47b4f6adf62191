#!/usr/bin/env bash
# From a fresh clone to a packed dataset:
#   scripts/quickstart.sh [FOLDER]
# Installs what is needed, builds the command, packs FOLDER (or a generated one), verifies the result and reads it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$root/build/quickstart
source_folder=
if [ $# -gt 0 ]; then
  source_folder=$(realpath -e -- "$1" 2> /dev/null) || { echo "quickstart.sh: there is no $1" >&2; exit 2; }
fi

"$root/scripts/install_packages.sh"
cd "$root"
mkdir -p "$work"
build=$root/build/release
echo "configuring"
# Whatever this folder was configured for before: the image maker belongs to the tests.
cmake --preset release -DIMGPACK_BUILD_TESTS=ON -DIMGPACK_BUILD_TOOLS=ON -DIMGPACK_BUILD_EXAMPLES=ON > "$work/configure.log" 2>&1 ||
  { cat "$work/configure.log" >&2; exit 3; }
cmake --build --preset release --parallel "$(nproc)" --target imgpack imgpack_make_images imgpack_read_packed imgpack_load_batches

if [ -z "$source_folder" ]; then
  source_folder=$work/images
  if [ ! -e "$work/images.complete" ]; then
    rm -rf "$source_folder"
    "$build/tests/support/imgpack_make_images" "$source_folder" 20 100
    touch "$work/images.complete"
  fi
fi

show() { printf '\n$ %s\n' "$*"; "$@"; }
imgpack=$build/tools/imgpack
packed=$work/dataset.rec
# 1: some files cannot be packed; the summary names them, and the rest is packed
rm -f "$packed"
show "$imgpack" build "$source_folder" "$packed" --overwrite --on-error skip || [ $? -eq 1 ] && [ -f "$packed" ] || exit 1
show "$imgpack" verify "$packed" --source "$source_folder"
show "$imgpack" info "$packed"
show "$build/examples/imgpack_read_packed" "$packed"
show "$build/examples/imgpack_load_batches" "$packed"
printf '\nThe command is %s; README.md says what else it does.\n' "$imgpack"
