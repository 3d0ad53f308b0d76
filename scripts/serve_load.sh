#!/usr/bin/env bash
# Measures `regard serve` under load, and attacks it (scripts/serve_load.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" serve_load "$@"
