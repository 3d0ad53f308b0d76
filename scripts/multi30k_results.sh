#!/usr/bin/env bash
# Trains the Multi30k recipes, compares decoding methods, and writes docs/results.md
# (scripts/multi30k_results.sh --help). Existing figures are kept and stopped trainings are resumed, so the page
# can be filled in several sessions.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" multi30k_results "$@"
