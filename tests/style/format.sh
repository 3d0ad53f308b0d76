#!/usr/bin/env bash
# Checks that clang-format 14 leaves all sources unchanged. Skipped without that version, which
# scripts/setup.sh --dev installs; other versions differ in places. $1 is the source folder.
set -euo pipefail

readonly skipped=77

cd "$1"
PATH=$PWD/.venv/bin:$PATH
if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
  echo "skipped: clang-format 14 is not installed"
  exit "$skipped"
fi
folders=(src tests python)
for folder in include tools; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 clang-format --dry-run --Werror || {
  echo "run scripts/lint.sh --fix"
  exit 1
}
