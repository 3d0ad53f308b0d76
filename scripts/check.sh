#!/usr/bin/env bash
# Runs a check that takes too long for CI, or needs more than CI has: scripts/check.sh NAME [ARGUMENT…]. Without a
# NAME, lists the checks.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scripts/modules/choose.py scripts/check.sh scripts/checks "$@"
