#!/usr/bin/env bash
# Speaks a part of the bundled corpus with espeak-ng, trains speech to English and speech to French, and writes the
# figures and the picture of docs/speech.md (scripts/speech.sh --help). Finished steps are skipped and stopped
# trainings are resumed.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" speech "$@"
