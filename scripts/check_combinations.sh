#!/usr/bin/env bash
# Runs regard with combinations of options on tiny data (scripts/check_combinations.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_combinations "$@"
