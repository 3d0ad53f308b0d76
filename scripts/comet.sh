#!/usr/bin/env bash
# Scores translations with COMET (Rei et al. 2020), if its command comet-score is installed (pip install
# unbabel-comet, in an environment of your own; it downloads its models itself):
#
#   scripts/comet.sh -s SOURCE -r REFERENCE (-m MODEL | -t TRANSLATIONS)… [-- OPTIONS of comet-score]
#
# Each -m is translated by regard first, with the search of its configuration. Several systems are scored one after the
# other. Empty lines are scored too: all files must have equally many lines.
set -euo pipefail

readonly usage_error=2 input_error=3 environment_error=6
readonly regard=${REGARD:-$(dirname "${BASH_SOURCE[0]}")/../build/regard}

fail() {
  printf 'comet: %s\n' "$2" >&2
  exit "$1"
}

usage() { sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

source="" reference="" names=() files=() options=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

while (($# > 0)); do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      options=("$@")
      break
      ;;
    -s | -r | -m | -t)
      (($# > 1)) || fail "$usage_error" "$1 needs a value; see --help"
      case $1 in
        -s) source=$2 ;;
        -r) reference=$2 ;;
        -m) names+=("$2") && files+=("") ;;
        -t) names+=("$2") && files+=("$2") ;;
      esac
      shift 2
      ;;
    *) fail "$usage_error" "unknown argument $1; see --help" ;;
  esac
done
[[ -n $source && -n $reference ]] || fail "$usage_error" "-s SOURCE and -r REFERENCE are needed; see --help"
((${#names[@]} > 0)) || fail "$usage_error" "found no system; give -m MODEL or -t TRANSLATIONS"
command -v comet-score >/dev/null ||
  fail "$environment_error" "found no comet-score; install COMET in an environment of your own (pip install unbabel-comet) and activate it"

# Prints the number of lines; the last one need not end in a line feed.
lines_of() {
  [[ -f $1 && -r $1 ]] || fail "$input_error" "$1: cannot be read, or is no file"
  [[ $1 != *.gz ]] || fail "$input_error" "$1: found a compressed file, which comet-score does not read; unpack it"
  awk 'END { print NR }' "$1"
}

lines=$(lines_of "$source")
for file in "$reference" "${files[@]}"; do
  [[ -n $file ]] || continue
  found=$(lines_of "$file")
  ((found == lines)) || fail "$input_error" "$file: found $found lines, but $source has $lines; the files must be parallel"
done
for i in "${!names[@]}"; do
  file=${files[$i]}
  if [[ -z $file ]]; then
    file=$work/$i
    "$regard" translate -m "${names[$i]}" -i "$source" -o "$file" --quiet
  fi
  printf '%s\n' "${names[$i]}"
  comet-score -s "$source" -t "$file" -r "$reference" "${options[@]}"
done
