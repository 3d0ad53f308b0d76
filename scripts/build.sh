#!/usr/bin/env bash
# Configures and builds into build/: scripts/build.sh [TARGET…], all targets when none is named.
set -euo pipefail

readonly megabytes_a_job=2000 # what the compiler takes for a file that includes LibTorch

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# As many jobs as there are cores, but no more than the memory holds.
jobs() {
  local cores available fitting
  cores=$(nproc)
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  fitting=$((available / megabytes_a_job))
  ((fitting >= 1)) || fitting=1
  echo $((cores < fitting ? cores : fitting))
}

targets=()
if (($# > 0)); then
  targets=(--target "$@")
fi
cmake --preset release
cmake --build --preset release --parallel "$(jobs)" "${targets[@]}"
