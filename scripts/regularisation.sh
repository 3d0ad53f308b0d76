#!/usr/bin/env bash
# Trains the small recipe on 5,000 pairs of Multi30k with each way to regularise it and with minimum risk, measures the
# time of their steps, and writes the tables of docs/training.md (scripts/regularisation.sh --help). Finished cells are
# skipped and stopped ones are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" regularisation "$@"
