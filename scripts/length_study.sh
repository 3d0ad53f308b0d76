#!/usr/bin/env bash
# Measures BLEU by source length, with attention and with one fixed context, on the bundled corpus (Bahdanau
# et al. 2015, Figure 2). Trains configs/quickstart.yaml and quickstart_fixed_context.yaml if their runs do
# not exist, translates both test sets, and writes docs/length_study.md and docs/length_study.svg.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly regard=build/regard
readonly edges=5,10,15,20,30,40,50
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

[[ -x $regard ]] || scripts/build.sh regard
for side in en fr; do
  cat "data/test.$side" "data/test_long.$side" >"$work/test.$side"
done
declare -A name=([quickstart]=attention [quickstart_fixed_context]=fixed_context)
for config in quickstart quickstart_fixed_context; do
  "$regard" train -c "configs/$config.yaml"
  "$regard" translate -m "runs/$config" -i "$work/test.en" -o "$work/${name[$config]}.fr"
done

evaluate() {
  "$regard" evaluate --hypotheses "$work/attention.fr" -s "$work/test.en" -r "$work/test.fr" --force \
    --by-length "$edges" --compare "$work/fixed_context.fr" "$@"
}
table=$(evaluate --by-length-svg docs/length_study.svg | sed -n '/source words/,$p')

# Prints the BLEU of the test set of the quick start: "97.64".
bleu_of() {
  "$regard" evaluate -m "runs/$1" -s data/test.en -r data/test.fr --force | sed -n 's/^BLEU = \([0-9.]*\) .*/\1/p'
}

cat >docs/length_study.md <<EOF
# BLEU by source length, with and without attention

Test set: \`data/test\` and \`data/test_long\` of the bundled corpus together. Each sentence has at least one
combination of words that never occurs in training. Both models use \`configs/quickstart.yaml\`, one with
additive attention and one with a fixed context (\`quickstart_fixed_context.yaml\`); everything else is the
same. Beam $("$regard" config print -c configs/quickstart.yaml | awk '/beam_size/ { print $2; exit }'), seed $("$regard" config print -c configs/quickstart.yaml | awk '/random_seed/ { print $2 }'), one run each. Training sentences have up to 50 tokens; few
have more than 30 words.

\`\`\`
$table
\`\`\`

![BLEU by source length](length_study.svg)

On \`data/test\` alone, the test set of the quick start: BLEU $(bleu_of quickstart) with attention,
$(bleu_of quickstart_fixed_context) with one fixed context.

Written by \`scripts/length_study.sh\` with $("$regard" --version | head -n 1), on $(nproc) cores of
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1).

Measured on $(date +%F) with regard $(git describe --always --dirty --exclude='*').
EOF
echo "written: docs/length_study.md, docs/length_study.svg" >&2
