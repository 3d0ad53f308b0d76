#!/usr/bin/env bash
# Tries to break the promises of docs/reliability.md (scripts/reliability.sh --help). Prints Markdown and, as the
# last line, one JSON object; --write also writes the figures into docs/reliability.md.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" reliability "$@"
