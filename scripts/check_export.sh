#!/usr/bin/env bash
# Computes in plain PyTorch what regard computes of the same model folder and compares the two:
# scripts/check_export.sh --help. Prints Markdown and, as its last line, one JSON object.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_export "$@"
