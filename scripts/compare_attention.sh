#!/usr/bin/env bash
# Trains every attention on the same data with the same number of steps, and writes the tables and pictures of
# docs/attention.md (scripts/compare_attention.sh --help). Each training is one cell of the table. Finished cells
# are skipped and stopped ones are resumed, so the table can be filled in several sessions.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" compare_attention "$@"
