#!/usr/bin/env bash
# The corpus under data/ is what the committed generator makes, byte for byte.
# usage: corpus.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"$build_dir/generate_corpus" --out "$fresh" --seed 1 >/dev/null

status=0
for path in "$fresh"/*; do
  name=$(basename "$path")
  if ! cmp "$path" "$source_dir/data/$name"; then
    status=1
  fi
done
if [ "$status" != 0 ]; then
  echo "data/ differs from the generator's output: run generate_corpus --out data" >&2
fi
exit "$status"
