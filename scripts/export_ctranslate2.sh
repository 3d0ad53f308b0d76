#!/usr/bin/env bash
# Writes a Transformer of regard as a model of CTranslate2, compares the translations of both, and measures
# their speed (scripts/export_ctranslate2.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scripts/export_ctranslate2 "$@"
