#!/usr/bin/env bash
# scripts/python.sh NAME [ARGUMENT…]: runs the Python program scripts/NAME from the project's folder, for
# the script of that name.
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "$1: python3 is needed to run and tabulate; apt-get install python3" >&2
  exit "$environment_error"
fi
export PYTHONPATH=$PWD/scripts/modules PYTHONDONTWRITEBYTECODE=1
exec python3 "scripts/$1" "${@:2}"
