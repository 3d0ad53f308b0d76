#!/usr/bin/env bash
# Configures and builds into build/, or into the folder REGARD_BUILD_FOLDER: scripts/build.sh [TARGET…]; without a
# TARGET, all targets.
set -euo pipefail

readonly megabytes_a_job=2000 # memory that the compiler needs for a file that includes LibTorch

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints the number of jobs: one for each core, but no more than fit into memory.
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
folder=${REGARD_BUILD_FOLDER:-build}
cmake --preset release -B "$folder"
cmake --build "$folder" --parallel "$(jobs)" "${targets[@]}"
