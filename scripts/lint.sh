#!/usr/bin/env bash
# Checks the format of all sources (clang-format), the sources that differ from main (clang-tidy) and all
# scripts (shellcheck).
set -euo pipefail

readonly environment_error=6

cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
usage: scripts/lint.sh [--fix] [--all | --since COMMIT | FILE.cpp…] [--at-most N]

  --fix      reformat in place, and apply the fixes of clang-tidy
  --all      run clang-tidy on every source, not only on those that differ from main
  --since    run clang-tidy on the sources that differ from this commit
  --at-most  run clang-tidy on N of them, those without LibTorch first; it takes up to a minute for each
  FILE       run clang-tidy on these sources only

scripts/setup.sh --dev installs the tools.
USAGE
}

say() { printf 'lint: %s\n' "$*"; }

# Lists the sources, NUL-separated: tracked and untracked files, but not ignored ones.
sources() {
  git ls-files -z --cached --others --exclude-standard --deduplicate -- \
    'src/*.h' 'src/*.cpp' 'include/*.h' 'tests/*.h' 'tests/*.cpp' 'tools/*.h' 'tools/*.cpp' \
    'scripts/*.cpp' 'python/*.cpp'
}

scripts() {
  git ls-files -z --cached --others --exclude-standard --deduplicate -- '*.sh' .ci/run
}

# Lists the .cpp files that differ from the commit $1 or, without it, from the merge base with main.
changed() {
  local base=${1:-}
  [[ $base ]] || base=$(git merge-base HEAD main 2>/dev/null ||
    git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  {
    git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'tests/*.cpp' 'tools/*.cpp'
    git ls-files --others --exclude-standard -- 'src/*.cpp' 'tests/*.cpp' 'tools/*.cpp'
  } | sort -u
}

# Sorts paths: first those whose folder includes no LibTorch.
light_first() {
  awk '{ print ($0 ~ /(^|\/)(base|config|text|metrics|report|cli|serve)\//) ? 0 : 1, $0 }' | sort | cut -d ' ' -f 2
}

check_format() {
  local options=(--dry-run --Werror)
  [[ $fix == false ]] || options=(-i)
  say "clang-format"
  sources | xargs -0 -r clang-format "${options[@]}"
}

# Runs clang-tidy on one source. clang 14 cannot read a lambda that captures a structured binding, as C++20
# allows: such errors do not count.
tidy() {
  local report code=0
  report=$(clang-tidy "$@" 2>&1) || code=$?
  local errors
  errors=$(grep 'error:' <<<"$report") || true
  local cannot_read='reference to local binding'
  ((code == 0)) || { [[ $errors == *"$cannot_read"* ]] && ! grep -qv "$cannot_read" <<<"$errors"; } || {
    grep -v ' warnings generated' <<<"$report"
    return 1
  }
}

# Runs clang-tidy with g++'s compile commands, without the precompiled header and g++'s own warnings. The
# definitions let Boost.Asio use the coroutines of C++20, which clang 14 has but does not announce.
check_tidy() {
  local options=(-p build-dev/tidy --quiet)
  local definition
  for definition in __cpp_impl_coroutine=201902L BOOST_ASIO_HAS_CO_AWAIT BOOST_ASIO_HAS_STD_COROUTINE; do
    options+=("--extra-arg=-D$definition")
  done
  [[ $fix == false ]] || options+=(--fix)
  if (($# == 0)); then
    say "clang-tidy: no source differs from main"
    return
  fi
  cmake --preset dev >/dev/null
  mkdir -p build-dev/tidy
  sed -E 's/-Winvalid-pch|-Werror|-include [^ ]*cmake_pch\.hxx//g' build-dev/compile_commands.json \
    >build-dev/tidy/compile_commands.json
  say "clang-tidy on $# files"
  export -f tidy
  # shellcheck disable=SC2016 # the inner shell expands it
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy "$@"' tidy "${options[@]}"
}

check_scripts() {
  if ! command -v shellcheck >/dev/null; then
    say "shellcheck is not installed: scripts are not checked"
    return
  fi
  say "shellcheck"
  scripts | xargs -0 -r shellcheck
}

PATH=$PWD/.venv/bin:$PATH
fix=false
all=false
since=
at_most=
files=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --fix) fix=true ;;
    --all) all=true ;;
    --since)
      since=${2:-}
      git rev-parse --verify --quiet "$since^{commit}" >/dev/null || {
        usage >&2
        exit 2
      }
      shift
      ;;
    --at-most)
      at_most=${2:-}
      [[ $at_most =~ ^[0-9]+$ ]] || {
        usage >&2
        exit 2
      }
      shift
      ;;
    -*) usage >&2 && exit 2 ;;
    *) files+=("$1") ;;
  esac
  shift
done

for tool in clang-format clang-tidy; do
  if ! command -v "$tool" >/dev/null; then
    say "$tool is not installed: run scripts/setup.sh --dev" >&2
    exit "$environment_error"
  fi
done

if [[ $all == true ]]; then
  mapfile -d '' -t files < <(sources | grep -z '\.cpp$')
elif ((${#files[@]} == 0)); then
  mapfile -t files < <(changed "$since")
fi

if [[ $at_most ]] && ((${#files[@]} > at_most)); then
  say "clang-tidy: $at_most of ${#files[@]} sources"
  mapfile -t files < <(printf '%s\n' "${files[@]}" | light_first | head -n "$at_most")
fi

failed=()
check_format || failed+=(clang-format)
check_tidy "${files[@]}" || failed+=(clang-tidy)
check_scripts || failed+=(shellcheck)
if ((${#failed[@]} > 0)); then
  say "failed: ${failed[*]}" >&2
  exit 1
fi
say "clean"
