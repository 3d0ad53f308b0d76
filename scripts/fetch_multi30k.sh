#!/usr/bin/env bash
# Fetches Multi30k, task 1 (Elliott et al. 2016): English, German and French captions, plain text.
#   scripts/fetch_multi30k.sh [SOURCE] [TARGET]
# SOURCE is a folder with the raw files (train.en or train.en.gz, …). Without it, or if it is '-', the
# files are cloned from the repository multi30k/dataset on GitHub. TARGET defaults to data/multi30k.
set -euo pipefail

readonly repository=https://github.com/multi30k/dataset.git
readonly raw=data/task1/raw
readonly languages=(en de fr)
readonly input_error=3 environment_error=6
declare -rA lines=([train]=29000 [val]=1014 [test_2016_flickr]=1000 [test_2017_flickr]=1000)

say() { printf 'multi30k: %s\n' "$*"; }

fail() { # CODE LINE…
  local code=$1
  shift
  printf 'multi30k: %s\n' "$@" >&2
  exit "$code"
}

# Fails unless the file has the wanted number of lines and is UTF-8. ORIGIN is the file named in the error.
check() { # FILE WANTED ORIGIN
  local found
  found=$(wc -l <"$1")
  ((found == $2)) || fail "$input_error" "$3: found $found lines, expected $2; delete it and run the script again"
  iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 ||
    fail "$input_error" "$3: found invalid UTF-8, expected UTF-8; delete it and run the script again"
}

clone() { # INTO
  command -v git >/dev/null || fail "$environment_error" "git is needed to fetch $repository"
  say "cloning $repository (task 1 only)"
  if ! GIT_TERMINAL_PROMPT=0 git clone --quiet --depth 1 --filter=blob:none --sparse \
    "$repository" "$1" || ! git -C "$1" sparse-checkout set "$raw"; then
    fail "$environment_error" "cannot fetch $repository" \
      "clone it on another machine, then run scripts/fetch_multi30k.sh CLONE/$raw"
  fi
}

all_present() {
  local set language
  for set in "${!lines[@]}"; do
    for language in "${languages[@]}"; do
      [[ -f $target/$set.$language ]] || return 1
    done
  done
}

# Copies one raw file, plain or gzip, and renames it when it is complete.
place() { # NAME WANTED
  local part=$target/.part origin=$source/$1
  if [[ -f $origin ]]; then
    cat "$origin" >"$part"
  elif [[ -f $origin.gz ]]; then
    origin=$origin.gz
    gzip -dc "$origin" >"$part" || fail "$input_error" "$origin: found a truncated or invalid gzip file"
  else
    fail "$input_error" "$source: found neither $1 nor $1.gz"
  fi
  check "$part" "$2" "$origin"
  mv "$part" "$target/$1"
}

case ${1:-} in
  -h | --help)
    sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  '' | -) source= ;;
  *)
    [[ -d $1 ]] || fail "$input_error" "found no folder $1"
    source=$(cd "$1" && pwd)
    ;;
esac
target=$(realpath -m "${2:-$(dirname "${BASH_SOURCE[0]}")/../data/multi30k}")

mkdir -p "$target" || fail "$environment_error" "cannot create $target"
if ! all_present; then
  if [[ -z $source ]]; then
    download=$(mktemp -d)
    trap 'rm -rf "$download"' EXIT
    clone "$download/dataset"
    source=$download/dataset/$raw
  fi
  for set in "${!lines[@]}"; do
    for language in "${languages[@]}"; do
      [[ -f $target/$set.$language ]] || place "$set.$language" "${lines[$set]}"
    done
  done
fi
for set in "${!lines[@]}"; do
  for language in "${languages[@]}"; do
    check "$target/$set.$language" "${lines[$set]}" "$target/$set.$language"
  done
done
say "$target: ${lines[train]} training, ${lines[val]} validation, 2 × 1000 test lines of ${languages[*]}"
