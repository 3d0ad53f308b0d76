#!/usr/bin/env bash
# Trains every attention on the same data with the same steps and writes the tables and pictures of
# docs/attention.md: scripts/compare_attention.sh --help. Each training is one cell, skipped when it
# is done and gone on with when it was stopped, so that the table fills over several sittings.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" compare_attention "$@"
