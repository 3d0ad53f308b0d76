#!/usr/bin/env bash
# Builds regard and installs it: scripts/install.sh PREFIX
# Installs the programs, all libraries that they need, the library for find_package(regard), shell completions
# and manual pages. PREFIX can be moved, also to another machine with the same or a newer C library.
set -euo pipefail

if (($# != 1)) || [[ $1 == -* ]]; then
  echo "usage: scripts/install.sh PREFIX   (run scripts/setup.sh first)" >&2
  exit 2
fi
prefix=$(realpath -m "$1")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/build.sh regard regard_library
cmake --install build --prefix "$prefix" --strip
echo "installed: $prefix/bin/regard ($(du -sh "$prefix" | cut -f 1) in all)"
