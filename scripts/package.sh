#!/usr/bin/env bash
# Builds regard and writes packages: scripts/package.sh [archive] [deb] [wheel] [-o FOLDER]
# `scripts/package.sh --help` says what each is.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" scripts/package "$@"
