#!/usr/bin/env bash
# All sources stand as clang-format leaves them; skipped where it is not installed.
# $1 is the source folder.
set -euo pipefail

readonly skipped=77

cd "$1"
if ! command -v clang-format >/dev/null; then
  echo "skipped: clang-format is not installed"
  exit "$skipped"
fi
folders=(src tests)
[[ ! -d data/generator ]] || folders+=(data/generator)
find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 clang-format --dry-run --Werror || {
  echo "scripts/lint.sh --fix mends it"
  exit 1
}
