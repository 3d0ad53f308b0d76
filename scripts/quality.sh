#!/usr/bin/env bash
# Measures ways to choose a translation (greedy, beam, minimum Bayes risk, reranking) and the translation of misspelt and
# oddly cased text, on Multi30k. Writes the tables of docs/decoding.md (scripts/quality.sh --help). Finished models are
# skipped and stopped ones are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" quality "$@"
