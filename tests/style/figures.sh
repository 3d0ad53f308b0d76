#!/usr/bin/env bash
# Every table of figures in docs/ says when and with which commit it was measured. $1 is the source folder.
set -euo pipefail

exec python3 "$1/scripts/checks/figure_origins.py"
