#!/usr/bin/env bash
# Measures the speed of regard on this machine (scripts/bench.sh --help). Prints Markdown and, as the last
# line, one JSON object; --write also writes the tables into docs/performance.md and docs/cuda.md.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scripts/bench "$@"
