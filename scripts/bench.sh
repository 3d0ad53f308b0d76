#!/usr/bin/env bash
# Measures regard on this machine: scripts/bench.sh --help. Prints Markdown and, as its last line, one
# JSON object; --write puts the tables into docs/performance.md as well.
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "bench: python3 is needed to run and tabulate; apt-get install python3" >&2
  exit "$environment_error"
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 scripts/bench "$@"
