#!/usr/bin/env bash
# The Multi30k table: trains what is not trained yet (a stopped run goes on), scores test 2016 with
# beam 5, and writes docs/results.md. An hour or two a model on two cores.
#     scripts/multi30k_results.sh [RUNS=runs]
# Needs data/multi30k: scripts/fetch_multi30k.sh brings it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly runs=${1:-runs}
readonly regard=build/regard
readonly data=data/multi30k

if [[ ! -f $data/train.en ]]; then
  echo "multi30k_results: no $data/train.en; scripts/fetch_multi30k.sh brings it" >&2
  exit 3
fi
[[ -x $regard ]] || scripts/build.sh regard

# run NAME CONFIG TARGET_LANGUAGE: prints a row of the table.
run() {
  local name=$1 config=$2 language=$3
  local folder=$runs/$name
  local train=("$regard" train -c "configs/$config.yaml" "name=$name"
    "training.model_dir=$folder"
    "data.train.0.trg=$data/train.$language" "data.dev.trg=$data/val.$language")
  local score=("$regard" evaluate -m "$folder" -s "$data/test_2016_flickr.en"
    -r "$data/test_2016_flickr.$language")
  "${train[@]}" >&2
  "${score[@]}" --json >"$folder/test_2016.json"
  "$regard" info "$folder" --json >"$folder/info.json"
  commands+="${train[*]}"$'\n'"${score[*]}"$'\n'
  rows+=$(
    python3 - "$folder" "en→$language" "$config" <<'PY'
import csv, json, sys
folder, direction, config = sys.argv[1:]
test = json.load(open(f"{folder}/test_2016.json"))
rows = list(csv.DictReader(open(f"{folder}/validations.tsv"), delimiter="\t"))
best = max(rows, key=lambda r: float(r["bleu"]))
print(f"| {direction} | `{config}` | {best['step']} | {float(rows[-1]['seconds']) / 60:.0f} min "
      f"| {float(best['bleu']):.2f} | **{test['bleu']['score']:.2f}** "
      f"| {test['chrf']['score']:.2f} | {test['perplexity']:.2f} |")
PY
  )$'\n'
}

rows=""
commands=""
run multi30k multi30k de
run multi30k_fixed_context multi30k_fixed_context de
run multi30k_french multi30k fr

cat >docs/results.md <<EOF
# Results on Multi30k

Task 1, raw text in and raw text out. The checkpoint is the one with the best BLEU on the validation
pair (greedy); test 2016 (Flickr) was then read once, with beam 5. BLEU is sacreBLEU's:
13a, cased, detokenised.

| direction | configuration | best step | training | validation BLEU | test BLEU | test chrF2 | test perplexity |
|---|---|---|---|---|---|---|---|
${rows}
Training time is that of all sittings, validation included, on $(nproc) cores of
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), with regard $("$regard" --version).
One run each, seed of the configuration.

    ${commands//$'\n'/$'\n'    }
Written by \`scripts/multi30k_results.sh\`.
EOF
echo "written: docs/results.md" >&2
