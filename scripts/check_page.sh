#!/usr/bin/env bash
# Uses the page of `regard serve` in Chromium, as a reader would (scripts/check_page.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_page "$@"
