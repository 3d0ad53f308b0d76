#!/usr/bin/env bash
# Trains models and writes the figures of a page of docs/: scripts/study.sh NAME [ARGUMENT…]. Without a NAME, lists
# the studies.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scripts/modules/choose.py scripts/study.sh studies "$@"
