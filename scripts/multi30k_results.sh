#!/usr/bin/env bash
# The Multi30k table: trains what is not trained yet (a stopped run goes on), scores test 2016 with
# beam 5 (once: what has its score keeps it), tries the promises about batch sizes and killed runs on
# the real data, and writes docs/results.md. About half an hour a model on two cores.
#     scripts/multi30k_results.sh [RUNS=runs] [key=value…]
# Further key=value go to each training (threads=1 leaves a core for other work).
# Needs data/multi30k: scripts/fetch_multi30k.sh brings it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly runs=${1:-runs}
readonly options=("${@:2}")
readonly regard=build/regard
readonly data=data/multi30k
readonly test_set=$data/test_2016_flickr
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

if [[ ! -f $data/train.en ]]; then
  echo "multi30k_results: no $data/train.en; scripts/fetch_multi30k.sh brings it" >&2
  exit 3
fi
[[ -x $regard ]] || scripts/build.sh regard

rows=""
commands=""
# run NAME CONFIG TARGET_LANGUAGE [key=value…]: trains and scores; adds a row to the table.
run() {
  local name=$1 config=$2 language=$3
  local folder=$runs/$name
  local train=("$regard" train -c "configs/$config.yaml" "training.model_dir=$folder"
    "data.train.0.trg=$data/train.$language" "data.dev.trg=$data/val.$language" "${@:4}" "${options[@]}")
  local score=("$regard" evaluate -m "$folder" -s "$test_set.en" -r "$test_set.$language")
  if [[ ! -f $folder/test_2016.json ]]; then
    "${train[@]}" >&2
    "${score[@]}" --json >"$work/test_2016.json"
    mv "$work/test_2016.json" "$folder/"
  fi
  commands+="    ${train[*]}"$'\n'"    ${score[*]}"$'\n'
  commands=${commands//"$runs/"/runs/}
  local label="$config${4:+ ${*:4}}"
  rows+=$(scripts/result_row.py "$folder" "en→$language" "${label//"$runs/"/runs/}")$'\n'
}

# mean_bleu NAME…: of the runs' test scores.
mean_bleu() {
  local name scores=()
  for name in "$@"; do scores+=("$runs/$name/test_2016.json"); done
  python3 -c '
import json, statistics, sys
print("%.2f" % statistics.mean(json.load(open(path))["bleu"]["score"] for path in sys.argv[1:]))
' "${scores[@]}"
}

decoded=""
# decode NAME LABEL OPTION…: a row of test 2016, English to German, with its confidence interval.
decode() {
  local name=$1 label=$2 file=$runs/decoding/$1.json
  mkdir -p "$runs/decoding"
  if [[ ! -f $file ]]; then
    "$regard" evaluate "${@:3}" -s "$test_set.en" -r "$test_set.de" --confidence --json >"$work/$name"
    mv "$work/$name" "$file"
  fi
  decoded+=$(python3 -c '
import json, sys
label, file = sys.argv[1:]
scores = json.load(open(file))
figures = [(scores[m]["score"], scores[m]["confidence"]["half_width"]) for m in ("bleu", "chrf")]
cells = [label, *("%.2f ± %.2f" % pair for pair in figures), "%.2f" % scores["perplexity"]]
print("| " + " | ".join(cells) + " |")
' "$label" "$file")$'\n'
}

# The same text whatever the batch size: prints a sentence for each size. Where texts differ, so may
# scores, but by rounding only: log P is the last field but one of an n-best line.
batch_sizes() {
  local size
  for size in 1 7 64; do
    "$regard" translate -m "$runs/multi30k" -i "$test_set.en" --batch-size "$size" --n-best 1 \
      -o "$work/batch.$size"
  done
  for size in 1 7; do
    paste -d '\n' "$work/batch.64" "$work/batch.$size" |
      awk -F ' [|]{3} ' -v size="$size" '
        { split($3, p, " "); if (NR % 2) { text = $2; log_p = p[2]; next } lines++ }
        text != $2 { differ++; gap = log_p - p[2]; if (gap < 0) gap = -gap; if (gap > most) most = gap }
        END {
          printf "Of %d lines in batches of 64 and of %d, %d differ", lines, size, differ
          if (differ) printf ", in log P by %.6f at most", most
          print "."
        }'
  done
}

# 2N steps straight against N steps, kill -9, and on to 2N: prints both hashes of the weights.
killed_run() {
  local n=60 pid
  local train=("$regard" train -c configs/multi30k.yaml "training.max_steps=$((2 * n))"
    training.save_every=1)
  "${train[@]}" "training.model_dir=$work/straight" 2>>"$work/log"
  "${train[@]}" "training.model_dir=$work/killed" 2>>"$work/log" &
  pid=$!
  until [[ -e $work/killed/checkpoints/$(printf 'step-%08d' "$n") ]]; do sleep 0.05; done
  kill -9 "$pid"
  wait "$pid" 2>/dev/null || true
  echo "Killed at $(readlink "$work/killed/last" | grep -o 'step-.*')."
  "${train[@]}" "training.model_dir=$work/killed" 2>>"$work/log"
  (cd "$work" && sha256sum straight/last/model.safetensors killed/last/model.safetensors)
}

run multi30k multi30k de
run multi30k_seed43 multi30k de training.random_seed=43
run multi30k_seed44 multi30k de training.random_seed=44 training.keep_newest=5
run multi30k_seed45 multi30k de training.random_seed=45 training.keep_newest=5
run multi30k_best multi30k_best de --init-from "$runs/multi30k" training.random_seed=142
run multi30k_best_seed43 multi30k_best de --init-from "$runs/multi30k_seed43" training.random_seed=143
run multi30k_fixed_context multi30k_fixed_context de
run multi30k_french multi30k fr
run multi30k_reset_after multi30k de \
  model.encoder.reset_gate=after model.decoder.reset_gate=after

readonly average=$runs/multi30k_seed44_average
[[ -e $average ]] || "$regard" average "$runs/multi30k_seed44" --last 5 -o "$average" >&2
readonly seeds=("$runs"/multi30k{,_seed43,_seed44,_seed45})
decode greedy "greedy, seed 42" -m "${seeds[0]}" --beam-size 1
for seed in 42 43 44 45; do
  decode "beam_$seed" "beam 5, seed $seed" -m "${seeds[seed - 42]}"
done
decode averaged "beam 5, seed 44, mean of the last 5 checkpoints" -m "$average"
decode ensemble "beam 5, ensemble of the four seeds" -m "${seeds[@]}"
decode ensemble_linear "the same, linear mean" -m "${seeds[@]}" --ensemble-mean linear

cat >docs/results.md <<EOF
# Results on Multi30k

Task 1, raw text in and raw text out. The checkpoint is the one with the best BLEU on the validation
pair (greedy); test 2016 (Flickr) was then read once, with beam 5. BLEU is sacreBLEU's:
13a, cased, detokenised.

| direction | configuration | threads | best step | training | tokens/s | validation BLEU | test BLEU | test chrF2 | test perplexity |
|---|---|---|---|---|---|---|---|---|---|
$rows
English to German, test BLEU on the mean: \`multi30k\` $(mean_bleu multi30k multi30k_seed{43,44,45}) of
four seeds; of seeds 42 and 43 $(mean_bleu multi30k multi30k_seed43), and \`multi30k_best\`, which goes on
from each, $(mean_bleu multi30k_best multi30k_best_seed43).

Training time is that of all sittings, validation included, with whatever else the machine did beside;
[performance.md](performance.md) has speeds measured in quiet. Tokens are target tokens, in the steps.
Machine: $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1). The
seed is the configuration's where no other is named, regard $("$regard" --version).

$commands
## Ways to decode

Test 2016, English to German, models of \`multi30k\`; ± is half of the 95 % interval by bootstrap (1,000
resamplings).

| | BLEU | chrF2 | perplexity |
|---|---|---|---|
$decoded
## Promises tried on this data

Test 2016, beam 5, the model of the first row:

$(batch_sizes)

Training straight to the end against killed (SIGKILL) and resumed:

    $(killed_run | sed '2,$s/^/    /')

Written by \`scripts/multi30k_results.sh\`.
EOF
echo "written: docs/results.md" >&2
