#!/usr/bin/env bash
# What changing and indexing images costs a build: predecoded images by one and two threads, and files as they are with
# and without segment indexes.
#   benchmarks/encode_benchmark.sh IMGPACK FOLDER WORKDIR [ROUNDS]
# The contestants take turns in every round. Printed are the shortest wall time and, of all rounds separately, the
# shortest CPU time (user and system). WORKDIR is best on tmpfs: it is the work that counts here.
set -euo pipefail
imgpack=$1 folder=$2 work=$3 rounds=${4:-5}
mkdir -p "$work"
find "$folder" -type f -exec cat {} + > /dev/null   # into the page cache

raw="--encode raw --resize 256 --resize-mode center-crop --upscale"
names=(raw-1 raw-2 keep-1 keep-1-no-index)
declare -A options=([raw-1]="$raw --threads 1" [raw-2]="$raw --threads 2" [keep-1]="--threads 1"
                    [keep-1-no-index]="--threads 1 --no-index")
rm -f "$work"/*.times
TIMEFORMAT='%R %U %S'
for ((round = 0; round < rounds; ++round)); do
  for name in "${names[@]}"; do
    # The options are several words. Exit code 1 says that a file was left out.
    { time "$imgpack" build "$folder" "$work/$name.rec" --overwrite --on-error skip --quiet ${options[$name]} \
        > /dev/null 2> "$work/$name.log" || [ $? = 1 ]; } 2>> "$work/$name.times"
  done
done

best() {   # best NAME EXPRESSION
  awk "{print $2}" "$work/$1.times" | sort -n | head -1
}
printf '%-18s %9s %9s %14s\n' "" "wall, s" "CPU, s" "bytes"
for name in "${names[@]}"; do
  printf '%-18s %9.2f %9.2f %14s\n' "$name" "$(best "$name" '$1')" "$(best "$name" '$2 + $3')" "$(stat -c %s "$work/$name.rec")"
done
ratio() { awk -v a="$1" -v b="$2" -v what="$3" 'BEGIN {printf "%s: %.2f\n", what, a / b}'; }
ratio "$(best raw-1 '$1')" "$(best raw-2 '$1')" "raw, speed of two threads over one (wall)"
ratio "$(best keep-1 '$2 + $3')" "$(best keep-1-no-index '$2 + $3')" "keep, cost with indexes over without (CPU)"
cmp "$work/raw-1.rec" "$work/raw-2.rec"
rm -f "$work"/*.times "$work"/*.log "$work"/{raw,keep}-*.rec
