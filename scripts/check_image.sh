#!/usr/bin/env bash
# Makes the file system of the image of Dockerfile without Docker, runs regard in it, and measures its size
# (scripts/check_image.sh --help).
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" check_image "$@"
