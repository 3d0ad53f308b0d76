#!/usr/bin/env bash
# Tries to break what regard promises of its trainings: scripts/reliability.sh --help. Prints Markdown
# and, as its last line, one JSON object; --write puts the figures into docs/reliability.md.
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v python3 >/dev/null; then
  echo "reliability: python3 is needed; apt-get install python3" >&2
  exit "$environment_error"
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 scripts/reliability "$@"
