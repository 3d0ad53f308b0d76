#!/usr/bin/env bash
# Installs regard and moves the install tree. Then the installed program must train a model, and
# examples/translate, built against the CMake package, must translate like the installed `regard`.
# Completions and manual pages must exist.
# usage: example.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

cmake --install "$build_dir" --prefix "$work/before" --strip >"$work/log" || fail "$(<"$work/log")"
mv "$work/before" "$work/moved"
prefix=$work/moved

for file in bash-completion/completions/regard zsh/site-functions/_regard \
  fish/vendor_completions.d/regard.fish man/man1/regard.1 man/man1/regard-translate.1; do
  [[ -s $prefix/share/$file ]] || fail "not installed: share/$file"
done
cmp "$prefix/share/bash-completion/completions/regard" <("$prefix/bin/regard" completions bash)

cmake -G Ninja -S "$prefix/share/doc/regard/examples/translate" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$work/log" ||
  fail "$(<"$work/log")"
cmake --build "$work/build" >"$work/log" || fail "$(<"$work/log")"

for file in train.en train.fr dev.en dev.fr; do
  head -n 200 "$source_dir/data/$file" >"$work/$file"
done
cat >"$work/tiny.yaml" <<YAML
name: tiny
data:
  train: [{src: $work/train.en, trg: $work/train.fr}]
  tokenizer: {kind: word}
model:
  encoder: {embedding_dim: 16, hidden_size: 16}
  decoder: {embedding_dim: 16, hidden_size: 16, readout_size: 16}
  attention: {size: 16}
training: {model_dir: $work/run, max_steps: 150, batch_type: sentence, batch_size: 20, learning_rate: 0.02}
search: {max_output_length: 20}
YAML
"$prefix/bin/regard" train -c "$work/tiny.yaml" --threads 1 2>"$work/log" || fail "$(<"$work/log")"

"$prefix/bin/regard" translate -m "$work/run" --beam-size 2 <"$work/dev.en" >"$work/by_program"
"$work/build/translate" "$work/run" beam_size=2 <"$work/dev.en" >"$work/by_example"
[[ $(wc -l <"$work/by_example") == 200 && $(sort -u "$work/by_example" | wc -l) -gt 1 ]] ||
  fail "no useful translations: $(head -n 3 "$work/by_example")"
cmp "$work/by_program" "$work/by_example"

if "$work/build/translate" "$work/run" beem_size=2 </dev/null 2>"$work/log"; then
  fail "a misspelt option was accepted"
fi
grep -q 'beam_size' "$work/log" || fail "$(<"$work/log")"
