#!/usr/bin/env bash
# Each header of src/ includes what it needs. In a group of sources (cmake/Groups.cmake) an earlier source could
# include it instead. $1 is the source folder, $2 the build folder.
set -euo pipefail

readonly skipped=77
source_dir=$1
build_dir=$2

# Parses the header alone, after the precompiled one, up to a false assertion: the work of a compiler at the end of a
# file takes seconds.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() {
  local header=$1 file
  file=$work/${header//\//_}.cpp
  printf '#include "%s"\nstatic_assert(false, "the end");\n' "$header" >"$file"
  "${command[@]}" -w -Wfatal-errors -fsyntax-only "$file" >"$file.log" 2>&1 || true
  grep -q 'the end' "$file.log" || {
    echo "$header does not include what it needs:"
    grep -m 1 error "$file.log" || cat "$file.log"
    return 1
  }
}

read -r -a command < <(
  grep '"command": .*-include .*regard_torch.dir/' "$build_dir/compile_commands.json" | head -n 1 |
    sed -E 's/^ *"command": "//; s/.*ccache //; s/ -o .*//; s/\\"//g'
) || {
  echo "skipped: $build_dir/compile_commands.json has no sources of regard"
  exit "$skipped"
}

cd "$build_dir"
status=0
count=0
while IFS= read -r header; do
  check "$header" || status=1
  count=$((count + 1))
done < <(find "$source_dir/src" "$source_dir/include" -name "*.h" -printf "%P\n" | sort)
echo "$count headers checked"
exit "$status"
