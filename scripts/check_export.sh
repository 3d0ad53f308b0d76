#!/usr/bin/env bash
# Compares the log-probabilities of regard with those of plain PyTorch for the same model folder
# (scripts/check_export.sh --help). Prints Markdown and, as the last line, one JSON object.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_export "$@"
