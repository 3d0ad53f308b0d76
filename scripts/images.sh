#!/usr/bin/env bash
# Draws images of coloured shapes, trains models that write their captions in English and in French with soft and
# with hard attention, and writes the figures and pictures of docs/images.md (scripts/images.sh --help). Finished
# steps are skipped and stopped trainings are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" images "$@"
