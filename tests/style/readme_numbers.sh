#!/usr/bin/env bash
# README.md has the figures of the pages it leads to. $1 is the source folder.
set -euo pipefail

exec python3 "$1/scripts/checks/readme_numbers.py"
