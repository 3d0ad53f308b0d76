#!/usr/bin/env bash
# scripts/python.sh NAME [ARGUMENT…]: runs the Python program scripts/NAME in the project folder. Called by
# scripts/NAME.sh. CALLED_FROM is the folder of the caller.
set -euo pipefail

readonly environment_error=6

export CALLED_FROM=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "$1: found no python3; run apt-get install python3" >&2
  exit "$environment_error"
fi
export PYTHONPATH=$PWD/scripts/modules PYTHONDONTWRITEBYTECODE=1
exec python3 "scripts/$1" "${@:2}"
