#!/usr/bin/env bash
# Trains the Multi30k recipes, decodes in every way, and writes docs/results.md:
# scripts/multi30k_results.sh --help. Figures that are there are kept, stopped trainings go on, so that
# the page fills over several sittings.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" multi30k_results "$@"
