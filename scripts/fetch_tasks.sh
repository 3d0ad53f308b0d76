#!/usr/bin/env bash
# Fetches the public tasks of docs/tasks.md: pronunciation, spelling, inflection, logical forms, commands, Python.
#   scripts/fetch_tasks.sh [--from FOLDER] [--to FOLDER] [TASK…]
# `--help` says more.
set -euo pipefail

exec "$(dirname "${BASH_SOURCE[0]}")/python.sh" studies/tasks/fetch.py "$@"
