#!/usr/bin/env bash
# Measures regard on this machine: scripts/bench.sh --help. Prints Markdown and, as its last line, one
# JSON object; --write puts the tables into docs/performance.md as well.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" bench "$@"
