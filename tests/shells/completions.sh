#!/usr/bin/env bash
# A real shell, given what `regard completions` writes, offers what there is. $1 is the source folder, $2 the
# build folder, $3 bash, zsh or fish; skipped where that is not installed.
set -euo pipefail

readonly skipped=77
source_dir=$1
regard=$2/regard
shell=$3

command -v "$shell" >/dev/null || {
  echo "skipped: $shell is not installed"
  exit "$skipped"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work TERM=xterm PATH=$2:$PATH
"$regard" completions "$shell" >"$work/_regard"
printf '#!/bin/sh\necho typed\n' >"$work/regard"
chmod +x "$work/regard"
mkdir "$work/here" "$work/here/folder"
touch "$work/here/mine.yaml" "$work/here/a=b.txt"
cd "$work/here"

# One line of words: values without the key before them, keys without the = behind.
offered() {
  timeout 60 "$shell" "$source_dir/tests/shells/offer.$shell" "$work/_regard" "$1" |
    sed 's/=$//; s/.*=//; s#/$##' | sort -u | paste -s -d ' '
}

failed=0
expect() { # LINE WORDS
  local found wanted
  found=$(offered "$1")
  wanted=$(tr ' ' '\n' <<<"$2" | sort -u | paste -s -d ' ')
  [[ $found == "$wanted" ]] || {
    echo "\`$1\`: found: $found"
    echo "${1//?/ }   wanted: $wanted"
    failed=1
  }
}

options_of() { # COMMAND
  # shellcheck disable=SC2086 # words
  "$regard" $1 --help | grep -oE '^  (-[a-zA-Z],)?--[a-z0-9-]+' | grep -oE -e '--.*' | paste -s -d ' '
}

expect "regard tr" "train translate"
expect "regard config " "print init convert docs schema"
expect "regard config pr" "print"
expect "regard train -c mi" "mine.yaml"
expect "regard info fo" "folder"
expect "regard translate --early-stopping " "full ahead exact never"
expect "regard evaluate --tokenize i" "intl"
expect "regard translate --no-rep" "--no-repeat-ngram"
expect "regard train -c mine.yaml training.learning_rate_" "training.learning_rate_min"
expect "regard train -c mine.yaml training.optimizer=ada" "adam adamw adadelta"
expect "regard config print training.batch_type=" "token sentence"
expect "regard completions " "bash zsh fish"
expect "regard train --config=mi" "mine.yaml"
expect "regard translate --early-stopping=e" "exact"
expect "regard translate --beam-size " ""
expect "regard evaluate --hypotheses mine.yaml mi" "mine.yaml"
expect "regard completions bash " ""
if [[ $shell == bash ]]; then
  expect "alias_of_regard tr" "train translate"
else # bash completes what is behind the =
  expect "regard translate -i a=b" "b.txt"
fi
expect "../regard " "typed"
# shellcheck disable=SC2088 # the completion expands it
expect "~/regard " "typed"
for command in train translate score "config init"; do
  expect "regard $command --" "$(options_of "$command")"
done
exit "$failed"
