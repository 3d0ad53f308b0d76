#!/usr/bin/env bash
# Tries to break what regard promises of its trainings: scripts/reliability.sh --help. Prints Markdown
# and, as its last line, one JSON object; --write puts the figures into docs/reliability.md.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" reliability "$@"
