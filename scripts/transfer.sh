#!/usr/bin/env bash
# Measures one model for several languages against single ones, and training that starts from another language, and
# writes the tables of docs/transfer.md (scripts/transfer.sh --help). Finished cells are skipped and stopped ones are
# resumed, so the tables can be filled in several sessions.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" transfer "$@"
