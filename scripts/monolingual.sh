#!/usr/bin/env bash
# Measures what monolingual text is worth to a translator of 5,000 pairs of Multi30k: back-translation by beam and by
# sampling, tagged and not, and self-training; also distillation. Writes the table of docs/monolingual.md
# (scripts/monolingual.sh --help). Finished cells are skipped and stopped ones are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" monolingual "$@"
