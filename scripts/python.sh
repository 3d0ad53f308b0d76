#!/usr/bin/env bash
# scripts/python.sh PROGRAM [ARGUMENT…]: runs a Python program, given by its path from the project folder, in that
# folder. Called by other scripts. CALLED_FROM is the folder of the caller.
set -euo pipefail

readonly environment_error=6

export CALLED_FROM=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "$1: found no python3; run apt-get install python3" >&2
  exit "$environment_error"
fi
export PYTHONPATH=$PWD/scripts/modules:$PWD/studies/modules PYTHONDONTWRITEBYTECODE=1
exec python3 "$@"
