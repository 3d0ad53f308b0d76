#!/usr/bin/env bash
# From a bare machine to a trained translator: sets up, builds, trains on the bundled corpus, then translates and
# scores unseen text. scripts/quickstart.sh [setup options…]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly run=runs/quickstart
readonly shown=8 # sentences

started=$SECONDS
number=0
step() {
  number=$((number + 1))
  printf '\n== %d of 5, after %d min: %s\n' "$number" "$(((SECONDS - started) / 60))" "$*"
}

step "setting up: system packages and LibTorch (minutes once, as long as the downloads take)"
scripts/setup.sh "$@"
step "building the program (once, 5 to 10 minutes on two cores)"
scripts/build.sh regard

step "training: configs/quickstart.yaml → $run (1 to 4 minutes on two cores; first translations after half a minute)"
build/regard train -c configs/quickstart.yaml

step "translating $shown sentences of data/test.en, unseen in training"
head -n "$shown" data/test.en >"$run/sample.en"
build/regard translate -m "$run" -i "$run/sample.en" -o "$run/sample.fr" \
  --report "$run/attention.html"
paste -d '\n' "$run/sample.en" "$run/sample.fr" <(head -n "$shown" data/test.fr) /dev/null |
  sed '1~4s/^/  source     /; 2~4s/^/  regard     /; 3~4s/^/  reference  /'

step "scoring all of data/test"
# --force: the punctuation of this corpus is separated by spaces, and regard would warn.
build/regard evaluate -m "$run" -s data/test.en -r data/test.fr --force

printf '\n== done after %d min\n' "$(((SECONDS - started) / 60))"
cat <<WHERE
  the model              $run
  its attention          $run/attention.html (open it in a browser)
  to translate text      echo 'Paul was sending the hat to a nurse quietly .' | build/regard translate -m $run
  what it cannot         the corpus is generated from a small grammar and a closed list of words: the model knows
                         no other English, such as 'Where is the railway station ?'
  to train on your data  copy configs/quickstart.yaml, name your files in it, and run
                         build/regard train -c yours.yaml
WHERE
