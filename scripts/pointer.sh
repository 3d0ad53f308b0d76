#!/usr/bin/env bash
# Measures pointer networks and the pointer-generator: generates the data (build/pointer), trains the models
# that are not trained yet (a stopped run is resumed), and writes docs/pointer.md.
#     scripts/pointer.sh [RUNS=runs] [key=value…]
# Each key=value is passed to every training (threads=1 leaves a core for other work).
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
# translate NAME SOURCE: writes the translation of SOURCE as test.out in the run folder.
translate() {
  "$regard" translate -m "$runs/$1" -i "$2" -o "$runs/$1/test.out"
}
# Prints the steps and minutes of a run: "3000 steps, 2.5 min".
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
  # unseen_words.py prints "12 of 34 (35.3 %) 56.0 %": the part up to the parenthesis, and the rest.
  copy_rows+="| \`$output\` | ${scores%) *}) | ${scores##*) } | $bleu | $(effort "$name") |"$'\n'
done
examples=$(paste -d '\n' "$data/names/test_names.en" "$runs/copy/test.out" \
  "$runs/copy_without/test.out" | sed -n 1,12p |
  awk '{ print "    " (NR % 3 == 1 ? "source     " : NR % 3 == 2 ? "copy       " : "vocabulary ") $0 }
    NR % 3 == 0 { print "" }')

cat >docs/pointer.md <<EOF
# Pointer and copy outputs

\`model.output.kind\` selects what the output layer predicts: a token of the \`vocabulary\`, a position of the
source (\`pointer\`), or a word of either (\`copy\`). Each kind is one file of \`src/model/output/\`, which opens with
its equations.

## Pointer networks

    u_ts = vᵀ tanh(W_1 h_s + W_2 s_t)      P(y_t = s) = softmax_s(u_ts)

(Vinyals, Fortunato, Jaitly 2015; \`pointer_output.h\`). The target file contains positions of source words,
counted from 0: \`2 0 1\`. The position of \`</s>\` means stop. The next decoder input is the embedding of the
word pointed at. With \`model.encoder.numbers: F\`, each source word is a vector of F numbers, such as
\`0.5,-2\`, embedded as W x + b. A word that is not such a vector, a position beyond the source, and a line of more
than 8,192 elements (or \`data.max_length\`) are errors with file and line. All options:
[configuration.md](configuration.md).

Data from \`generate_pointers\` (100,000 training lines, 2,000 unseen test lines), greedy search:

| task | configuration | exactly right | simple polygons | area covered | training |
|---|---|---|---|---|---|
| sorting ten numbers | \`pointer_sort\` | **$sorted** | | | $(effort pointer_sort) |
| convex hull of ten points | \`pointer_hull\` | **$hulls %** | $simple % | $area % | $(effort pointer_hull) |

The numbers are distinct hundredths from 0 to 0.99; the points are uniform in the unit square. A hull is right
if it is the same polygon. The area covered is the area of a simple polygon divided by that of the true hull,
averaged over the simple polygons.

## Copying words

    P(y) = p_gen P_vocabulary(y) + (1 − p_gen) Σ_{s: x_s = y} α_ts
    p_gen = σ(w_c·c_t + w_s·s_t + w_y·y_{t−1} + b)

(See, Liu, Manning 2017; \`copy_output.h\`). With \`data.tokenizer.kind: word\`, source words that are not in the
target vocabulary get extra ids after it, for each sentence, and the output contains the word itself, also in
n-best lists. The attention weights must sum to 1: every kind works except \`none\`, \`local_p\` and \`monotonic\`.
Multi-head attention copies by the mean over its heads, and so does a Transformer decoder, with its last layer.

The data is the bundled grammar with names and numbers from an open list, the same in both languages
(\`generate_corpus --test-names 500\`). Each of the 500 test sentences has at least one that no training
sentence has. The same model with both outputs, beam $("$regard" config print -c configs/copy.yaml | awk '/ beam_size/ { print $2; exit }'):

| output | unseen words translated | sentences exactly right | BLEU | training |
|---|---|---|---|---|
$copy_rows
$examples

One run each. Training time includes validation and all sessions; other programs ran on the machine at the same
time. Written by \`scripts/pointer.sh\` with $("$regard" --version | head -n 1), on $(nproc) cores of
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1).

Measured on $(date +%F) with regard $(git describe --always --dirty --exclude='*').
EOF
echo "written: docs/pointer.md" >&2
