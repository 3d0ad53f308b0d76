#!/usr/bin/env bash
# Trains by several processes, on this machine and between two network namespaces, and writes the figures of
# docs/scaling.md (scripts/scaling.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scaling "$@"
