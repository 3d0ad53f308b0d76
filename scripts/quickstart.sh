#!/usr/bin/env bash
# From a bare machine to a trained translator: sets up, builds, trains on the bundled corpus, then translates and
# scores unseen text. scripts/quickstart.sh [setup options…]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly run=runs/quickstart
readonly shown=8 # sentences

step() { printf '\n== %s\n' "$*"; }

scripts/setup.sh "$@"
step "building regard"
scripts/build.sh regard

step "training: configs/quickstart.yaml → $run"
build/regard train -c configs/quickstart.yaml

step "translating $shown sentences of data/test.en, unseen in training"
head -n "$shown" data/test.en >"$run/sample.en"
build/regard translate -m "$run" -i "$run/sample.en" -o "$run/sample.fr" \
  --picture "$run/attention.html"
paste -d '\n' "$run/sample.en" "$run/sample.fr" <(head -n "$shown" data/test.fr) /dev/null |
  sed '1~4s/^/  source     /; 2~4s/^/  regard     /; 3~4s/^/  reference  /'

step "scoring all of data/test"
# --force: the punctuation of this corpus is separated by spaces, and regard would warn.
build/regard evaluate -m "$run" -s data/test.en -r data/test.fr --force

step "done"
cat <<WHERE
  the model              $run
  its attention          $run/attention.html (open it in a browser)
  to translate text      echo 'a sentence' | build/regard translate -m $run
  to train on your data  copy configs/quickstart.yaml, name your files in it, and run
                         build/regard train -c yours.yaml
WHERE
