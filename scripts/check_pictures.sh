#!/usr/bin/env bash
# Checks the pages and pictures of regard in Chromium (scripts/check_pictures.sh --help). Prints Markdown and,
# as the last line, one JSON object.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_pictures "$@"
