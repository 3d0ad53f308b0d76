#!/usr/bin/env bash
# Pointer networks and the pointer-generator, measured: makes the data (build/pointer), trains what is
# not trained yet (a stopped run goes on), and writes docs/pointer.md.
#     scripts/pointer.sh [RUNS=runs] [key=value…]
# Further key=value go to each training (threads=1 leaves a core for other work).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly runs=${1:-runs}
readonly options=("${@:2}")
readonly regard=build/regard
readonly data=build/pointer

for program in regard generate_pointers generate_corpus; do
  [[ -x build/$program ]] || scripts/build.sh "$program"
done
build/generate_pointers --task sort --out "$data/sort"
build/generate_pointers --task hull --out "$data/hull"
build/generate_corpus --out "$data/names" --test-names 500 >&2

# train NAME CONFIG [key=value…]
train() {
  "$regard" train -c "configs/$2.yaml" "training.model_dir=$runs/$1" "${@:3}" "${options[@]}" >&2
}
# translate NAME SOURCE: writes the run's translation of it, test.out in its folder.
translate() {
  "$regard" translate -m "$runs/$1" -i "$2" -o "$runs/$1/test.out"
}
# What a run took: "3000 steps, 2.5 min".
effort() {
  awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i }
    END { printf "%d steps, %.1f min", $column["step"], $column["seconds"] / 60 }' \
    "$runs/$1/validations.tsv"
}

train pointer_sort pointer_sort
translate pointer_sort "$data/sort/test.source"
sorted=$(paste -d '\n' "$data/sort/test.positions" "$runs/pointer_sort/test.out" |
  awk 'NR % 2 { wanted = $0; next } { n++; right += $0 == wanted }
    END { printf "%.1f %% of %d", 100 * right / n, n }')

train pointer_hull pointer_hull
translate pointer_hull "$data/hull/test.source"
read -r hulls _ simple _ area _ <<<"$(scripts/hull_scores.py "$data/hull/test.source" \
  "$data/hull/test.positions" "$runs/pointer_hull/test.out")"

copy_rows=""
for output in copy vocabulary; do
  name=copy
  [[ $output == copy ]] || name=copy_without
  train "$name" copy "model.output.kind=$output"
  translate "$name" "$data/names/test_names.en"
  scores=$(scripts/unseen_words.py "$data/names/train_names.fr" "$data/names/test_names.fr" \
    "$runs/$name/test.out")
  bleu=$("$regard" evaluate --hypotheses "$runs/$name/test.out" -r "$data/names/test_names.fr" |
    sed -n 's/^BLEU = \([0-9.]*\) .*/\1/p')
  copy_rows+="| \`$output\` | ${scores%) *}) | ${scores##*) } | $bleu | $(effort "$name") |"$'\n'
done
examples=$(paste -d '\n' "$data/names/test_names.en" "$runs/copy/test.out" \
  "$runs/copy_without/test.out" | sed -n 1,12p |
  awk '{ print "    " (NR % 3 == 1 ? "source     " : NR % 3 == 2 ? "copy       " : "vocabulary ") $0 }
    NR % 3 == 0 { print "" }')

cat >docs/pointer.md <<EOF
# Outputs that point into the source

\`model.output.kind\` says what the model's last layer says: a token of its \`vocabulary\`, a position of
the source (\`pointer\`), or a word of either (\`copy\`). Each is one file of \`src/model/output/\`, opened by
its equations.

## Pointer networks

    u_ts = vᵀ tanh(W_1 h_s + W_2 s_t)      P(y_t = s) = softmax_s(u_ts)

(Vinyals, Fortunato, Jaitly 2015; \`pointer_output.h\`). The target file holds positions of the source's
words, counted from 0: \`2 0 1\`. The source's end stands for stop; the next input is the embedding of
the word pointed at. \`model.encoder.numbers: F\` makes each source word a vector of F numbers, as in
\`0.5,-2\`, embedded as W x + b. A word that is no such vector, and a position that the source has not,
is an error with file and line. All options: [configuration.md](configuration.md).

Data of \`generate_pointers\` (100,000 training lines, 2,000 unseen ones to test), greedy search:

| task | configuration | wholly right | simple polygons | area covered | training |
|---|---|---|---|---|---|
| sorting ten numbers | \`pointer_sort\` | **$sorted** | | | $(effort pointer_sort) |
| convex hull of ten points | \`pointer_hull\` | **$hulls %** | $simple % | $area % | $(effort pointer_hull) |

The numbers are different hundredths from 0 to 0.99, the points uniform in the unit square. A hull is
right when it is the same polygon; the area is the mean share of the true hull's that simple polygons
cover.

## Copying words

    P(y) = p_gen P_vocabulary(y) + (1 − p_gen) Σ_{s: x_s = y} α_ts
    p_gen = σ(w_c·c_t + w_s·s_t + w_y·y_{t−1} + b)

(See, Liu, Manning 2017; \`copy_output.h\`). With \`data.tokenizer.kind: word\`, source words that the target's
vocabulary lacks get ids of their own behind it, sentence by sentence, and the output has the word
itself, in n-best lists too. The attention's weights must sum to 1: any kind but \`none\`, \`local_p\` and
\`monotonic\`; of multi-head the mean over its heads, and so a Transformer's decoder, whose last layer points.

The bundled grammar with names and numbers from an open list, alike in both languages
(\`generate_corpus --test-names 500\`). Each of the 500 test sentences has at least one that no training
sentence has. The same model with both outputs, beam $("$regard" config print -c configs/copy.yaml | awk '/ beam_size/ { print $2; exit }'):

| output | unseen words that come through | sentences wholly right | BLEU | training |
|---|---|---|---|---|
$copy_rows
$examples

One run each. Training time is that of all sittings, validation included, with whatever else the machine
did beside. Written by \`scripts/pointer.sh\` with $("$regard" --version | head -n 1), on $(nproc) cores of
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1).
EOF
echo "written: docs/pointer.md" >&2
