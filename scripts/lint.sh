#!/usr/bin/env bash
# Checks the formatting of all sources (clang-format), the sources that changed against main
# (clang-tidy) and all scripts (shellcheck).
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
usage: scripts/lint.sh [--fix] [--all | FILE.cpp…]

  --fix   reformat in place, and let clang-tidy mend what it can
  --all   clang-tidy over every source, not only those that changed against main
  FILE    clang-tidy over these sources only
USAGE
}

say() { printf 'lint: %s\n' "$*"; }

# Lists the sources, NUL-separated. Files not yet added count, ignored ones do not.
sources() {
  git ls-files -z --cached --others --exclude-standard --deduplicate -- \
    'src/*.h' 'src/*.cpp' 'tests/*.h' 'tests/*.cpp' 'data/generator/*.h' 'data/generator/*.cpp' \
    'scripts/*.cpp'
}

scripts() {
  git ls-files -z --cached --others --exclude-standard --deduplicate -- '*.sh' .ci/run
}

# Lists the .cpp files that differ from where this branch left main.
changed() {
  local base
  base=$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null ||
    git rev-parse HEAD)
  {
    git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'tests/*.cpp' 'data/generator/*.cpp'
    git ls-files --others --exclude-standard -- 'src/*.cpp' 'tests/*.cpp' 'data/generator/*.cpp'
  } | sort -u
}

check_format() {
  local options=(--dry-run --Werror)
  [[ $fix == false ]] || options=(-i)
  say "clang-format"
  sources | xargs -0 -r clang-format "${options[@]}"
}

# clang-tidy reads g++'s commands, but for its precompiled header and its own warnings.
check_tidy() {
  local options=(-p build/tidy --quiet)
  [[ $fix == false ]] || options+=(--fix)
  if (($# == 0)); then
    say "clang-tidy: no source changed against main"
    return
  fi
  cmake --preset release >/dev/null
  mkdir -p build/tidy
  sed -E 's/-Winvalid-pch|-Werror|-include [^ ]*cmake_pch\.hxx//g' build/compile_commands.json \
    >build/tidy/compile_commands.json
  say "clang-tidy over $# files"
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy "${options[@]}" \
    2> >(grep -v ' warnings generated' >&2)
}

check_scripts() {
  if ! command -v shellcheck >/dev/null; then
    say "shellcheck is not installed: scripts not checked"
    return
  fi
  say "shellcheck"
  scripts | xargs -0 -r shellcheck
}

fix=false
all=false
files=()
for argument in "$@"; do
  case $argument in
    -h | --help) usage && exit 0 ;;
    --fix) fix=true ;;
    --all) all=true ;;
    -*) usage >&2 && exit 2 ;;
    *) files+=("$argument") ;;
  esac
done

for tool in clang-format clang-tidy; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: apt-get install clang-format clang-tidy shellcheck" >&2
    exit "$environment_error"
  fi
done

if [[ $all == true ]]; then
  mapfile -d '' -t files < <(sources | grep -z '\.cpp$')
elif ((${#files[@]} == 0)); then
  mapfile -t files < <(changed)
fi

failed=()
check_format || failed+=(clang-format)
check_tidy "${files[@]}" || failed+=(clang-tidy)
check_scripts || failed+=(shellcheck)
if ((${#failed[@]} > 0)); then
  say "to mend: ${failed[*]}" >&2
  exit 1
fi
say "clean"
