#!/usr/bin/env bash
# Trains variants of one small recipe that differ in one part (cell, layers, direction, context, positions …), and
# writes the tables of docs/ablations.md (scripts/ablations.sh --help). Finished cells are skipped and stopped ones
# are resumed, so the tables can be filled in several sessions.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" ablations "$@"
