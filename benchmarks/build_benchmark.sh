#!/usr/bin/env bash
# Packing a folder, beside `cp -r` of the same folder, each followed by sync: how near a build comes to a plain copy.
#   benchmarks/build_benchmark.sh IMGPACK FOLDER WORKDIR [ROUNDS]
# The contestants take turns in every round; medians and ratios are printed. FOLDER should be a few GB so that syncing counts.
set -euo pipefail
imgpack=$1 folder=$2 work=$3 rounds=${4:-5}
mkdir -p "$work"
bytes=$(du -sb --apparent-size "$folder" | cut -f1)
find "$folder" -type f -exec cat {} + > /dev/null   # into the page cache

run() {   # run NAME COMMAND...: seconds of the command and a sync, appended to WORKDIR/NAME.times
  local name=$1; shift
  sync
  local begin end
  begin=$(date +%s.%N)
  "$@" > /dev/null
  sync
  end=$(date +%s.%N)
  echo "$end $begin" | awk '{print $1 - $2}' >> "$work/$name.times"
  rm -rf "$work/copy" "$work"/out.*
}

rm -f "$work"/*.times
for ((round = 0; round < rounds; ++round)); do
  run cp cp -r "$folder" "$work/copy"
  for format in rec lmdb hdf5 tfrecord; do
    run "$format" "$imgpack" build "$folder" "$work/out.$format" --format "$format" --on-error skip --quiet
  done
done

median() { sort -n "$work/$1.times" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
base=$(median cp)
printf '%s bytes, median of %s rounds\n%-10s %10s %10s %14s\n' "$bytes" "$rounds" "" seconds MB/s "of cp -r"
for name in cp rec lmdb hdf5 tfrecord; do
  awk -v name="$name" -v t="$(median "$name")" -v base="$base" -v bytes="$bytes" \
    'BEGIN {printf "%-10s %10.2f %10.1f %13.1f%%\n", name, t, bytes / t / 1e6, 100 * base / t}'
done
rm -f "$work"/*.times
