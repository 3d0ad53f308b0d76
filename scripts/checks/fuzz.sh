#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer: scripts/check.sh fuzz --help.
set -euo pipefail

readonly finding=1
readonly usage_error=2
readonly environment_error=6
readonly build=build-fuzz
readonly page=docs/reliability.md
readonly seconds_an_input=10   # a longer time is a hang
readonly megabytes=2048        # total, including LibTorch and the sanitizers
readonly megabytes_at_once=256 # maximum of one allocation
readonly longest=65536         # bytes of the longest input

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<USAGE
usage: scripts/check.sh fuzz [--minutes N] [--write] [NAME…]

Builds the preset fuzz and runs each target of tests/fuzz (all, or the named ones) for N minutes on one core;
N is 10 by default. The inputs of tests/fuzz/corpora are the seeds. New inputs are kept in $build/corpora,
and the next run continues from them. Prints a Markdown table and writes the same figures to
$build/fuzz.json. An input that causes a fault is stored in $build/findings and ends its target.

  --minutes N  minutes for each target
  --write      write the table into $page; it keeps the rows of targets that have not run here

exit codes: 0 no findings, $finding findings, $usage_error usage error, $environment_error clang is missing
USAGE
}

fail() { # CODE MESSAGE
  printf 'fuzz: %s\n' "$2" >&2
  exit "$1"
}

# Prints the names of the targets, which tests/fuzz/CMakeLists.txt lists.
all_targets() { sed -n 's/^set(t[a-z]*_targets \([^)]*\)).*$/\1/p' tests/fuzz/CMakeLists.txt | tr '\n' ' '; }

# Prints a number with commas: 1,234,567.
thousands() { sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"; }

# Prints a figure of libFuzzer's final statistics.
statistic() { # LOG NAME
  sed -n "s/^stat::$2: *//p" "$1" | tail -n 1
}

# Prints the machine and the versions as one sentence.
machine() {
  local name version versions=()
  while read -r name version; do versions+=("$name $version"); done < <(
    for name in yaml-cpp sentencepiece zlib libarchive libxml-2.0 nlohmann_json libutf8proc; do
      echo "$name $(pkg-config --modversion "$name" 2>/dev/null || echo unknown)"
    done
  )
  printf 'One core for each target, %s, %s cores; %s' \
    "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc --all)" \
    "$(clang++-14 --version | head -n 1)"
  printf ', %s' "${versions[@]}"
}

# Runs a target; writes results/NAME.json and results/NAME.md.
fuzz() { # NAME
  local name=$1 start seconds found executions edges inputs log=$build/results/$1.log
  local dictionary=tests/fuzz/dictionaries/$1.dict options=()
  mkdir -p "$build/corpora/$name" "$build/findings/$name" "$build/results"
  rm -f "$build/findings/$name"/*
  [[ ! -f $dictionary ]] || options+=("-dict=$dictionary")
  printf 'fuzz: %s, %s minutes, log in %s\n' "$name" "$minutes" "$log" >&2
  start=$SECONDS
  TMPDIR=$fast "$build/tests/fuzz/fuzz_$name" "$build/corpora/$name" "tests/fuzz/corpora/$name" \
    "${options[@]}" -max_total_time=$((60 * minutes)) -timeout="$seconds_an_input" \
    -rss_limit_mb="$megabytes" -malloc_limit_mb="$megabytes_at_once" -max_len="$longest" \
    -artifact_prefix="$build/findings/$name/" -print_final_stats=1 &>"$log" || true
  seconds=$((SECONDS - start))
  executions=$(statistic "$log" number_of_executed_units)
  edges=$(sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  # Slow units took less than the timeout: they are no findings.
  found=$(find "$build/findings/$name" -type f ! -name 'slow-unit-*' | wc -l)
  inputs=$(find "$build/corpora/$name" "tests/fuzz/corpora/$name" -type f | wc -l)
  [[ -n $executions && -n $edges ]] ||
    fail 1 "$name did not finish: $(tail -n 3 "$log")"
  printf '{"target": "%s", "executions": %d, "edges": %d, "inputs": %d, "seconds": %d, "findings": %d}\n' \
    "$name" "$executions" "$edges" "$inputs" "$seconds" "$found" >"$build/results/$name.json"
  printf '| %s | %s | %s | %s | %d | %d | %s |\n' "$name" "$(thousands "$executions")" "$(thousands "$edges")" \
    "$(thousands "$inputs")" "$seconds" "$found" "$(date -u +%F)" >"$build/results/$name.md"
  ((found == 0)) || failed=true
}

table() { # NAME…
  local name
  printf '| target | executions | coverage, edges | distinct inputs | seconds | findings | date |\n'
  printf '|---|---:|---:|---:|---:|---:|---:|\n'
  for name in "$@"; do
    cat "$build/results/$name.md" 2>/dev/null || grep -E "^\| $name \| [0-9]" "$page" || true
  done
}

# Writes the machine and the table of all known targets between the marks of the page.
write_page() {
  local text
  text=$(printf '\n%s.\n\n%s' "$(cat "$build/results/machine")" "$(table "${known[@]}")")
  PYTHONPATH=scripts/modules python3 -c \
    'import pathlib, sys, pages; pages.put(pathlib.Path(sys.argv[1]), {"fuzz": sys.argv[2]})' "$page" "$text"
}

minutes=10
write=false
names=()
while (($# > 0)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --minutes)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$usage_error" "--minutes: expected a whole number from 1"
      minutes=$2
      shift
      ;;
    --write) write=true ;;
    -*) usage >&2 && exit "$usage_error" ;;
    *) names+=("$1") ;;
  esac
  shift
done
read -r -a known <<<"$(all_targets)"
((${#names[@]} > 0)) || names=("${known[@]}")
for name in "${names[@]}"; do
  [[ " ${known[*]} " == *" $name "* ]] ||
    fail "$usage_error" "unknown target $name; expected one of: ${known[*]}"
done
command -v clang++-14 >/dev/null ||
  fail "$environment_error" "clang++-14 is needed; apt-get install clang-14"

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${names[@]/#/fuzz_}" >&2
fast=${TMPDIR:-/tmp} # temporary files of the targets: in memory if possible
[[ ! -w /dev/shm ]] || fast=/dev/shm
failed=false
for name in "${names[@]}"; do fuzz "$name"; done
machine >"$build/results/machine"
table "${names[@]}"
{
  printf '{"machine": "%s", "targets": [\n' "$(cat "$build/results/machine")"
  cat "$build"/results/*.json | sed '$!s/$/,/'
  printf ']}\n'
} >"$build/fuzz.json"
[[ $write == false ]] || write_page
if [[ $failed == true ]]; then
  printf 'fuzz: findings in %s\n' "$build/findings" >&2
  exit "$finding"
fi
