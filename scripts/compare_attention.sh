#!/usr/bin/env bash
# Trains every attention on the same data with the same steps and writes the tables and pictures of
# docs/attention.md: scripts/compare_attention.sh --help. Each training is one cell, skipped when it
# is done and gone on with when it was stopped, so that the table fills over several sittings.
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "compare_attention: python3 is needed to run and tabulate; apt-get install python3" >&2
  exit "$environment_error"
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 scripts/compare_attention "$@"
