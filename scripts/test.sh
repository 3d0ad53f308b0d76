#!/usr/bin/env bash
# Sets up, builds everything and runs the tests: scripts/test.sh [setup options…] [-- ctest options…]
# Example: scripts/test.sh -- -L unit (labels: unit, reference, learning, cli, gpu, style, install, python).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

setup_options=()
while (($# > 0)); do
  case $1 in
    -h | --help)
      sed -n '2,3s/^# //p' scripts/test.sh
      exit 0
      ;;
    --)
      shift
      break
      ;;
    *) setup_options+=("$1") ;;
  esac
  shift
done

scripts/setup.sh --python "${setup_options[@]}"
scripts/build.sh
# The longest test takes a minute and a half on two cores. One that hangs fails after ten, by its name.
ctest --test-dir build --output-on-failure --no-tests=error --timeout 600 --parallel "$(nproc)" "$@"
