#!/usr/bin/env bash
# Changes lines of the source, one at a time, and counts the changes that tests notice
# (scripts/check_mutations.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_mutations "$@"
