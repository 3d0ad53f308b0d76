#!/usr/bin/env bash
# Measures what text without translations is worth to translators of 1,000, 5,000 and 29,000 pairs of Multi30k: a
# language model in the search, masked and denoising pre-training. Writes the tables of docs/language_models.md
# (scripts/pretraining.sh --help). Finished cells are skipped and stopped ones are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" pretraining "$@"
