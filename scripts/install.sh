#!/usr/bin/env bash
# Builds regard and installs it: scripts/install.sh [--program-only] PREFIX
# Installs the programs, all libraries that they need, shell completions, manual pages and documents, and the
# library for find_package(regard) unless --program-only is given. PREFIX can be moved, also to another machine
# with the same or a newer C library.
set -euo pipefail

targets=(regard regard_library)
components=()
if [[ ${1:-} == --program-only ]]; then
  targets=(regard)
  components=(--component program)
  shift
fi
if (($# != 1)) || [[ $1 == -* ]]; then
  echo "usage: scripts/install.sh [--program-only] PREFIX   (run scripts/setup.sh first)" >&2
  exit 2
fi
prefix=$(realpath -m "$1")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh "${targets[@]}"
cmake --install build --prefix "$prefix" --strip "${components[@]}"
echo "installed: $prefix/bin/regard ($(du -sh "$prefix" | cut -f 1) in all)"
