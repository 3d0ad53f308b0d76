#!/usr/bin/env bash
# Looks at regard's pages and pictures with a Chromium, as a reader would: scripts/check_pictures.sh
# --help. Prints Markdown and, as its last line, one JSON object.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_pictures "$@"
