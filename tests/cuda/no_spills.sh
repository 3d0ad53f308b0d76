#!/usr/bin/env bash
# The kernels of src/cuda/ compile, and keep what a thread needs in registers. $1 is the source folder, the rest
# nvcc with its options.
set -euo pipefail

readonly skipped=77
source_dir=$1
shift
if ! command -v "$1" >/dev/null; then
  echo "skipped: found no nvcc"
  exit "$skipped"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$@" -Xptxas -v -c "$source_dir/src/cuda/kernels.cu" -o "$work/kernels.o" 2>&1 | tee "$work/log"
grep -q 'spill stores' "$work/log" || {
  echo "nvcc does not tell whether it spills"
  exit 1
}
! grep -E '[1-9][0-9]* bytes (stack frame|spill)' "$work/log"
