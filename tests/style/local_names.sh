#!/usr/bin/env bash
# Sources are compiled in groups (cmake/Groups.cmake), so a name of an unnamed namespace must be unique among the
# sources of its library. A test file has a namespace of its own, named like the file. $1 is the source folder.
set -euo pipefail

cd "$1"

# Prints 'name definition file' for each definition at the start of a line in an unnamed namespace. Only equal aliases
# have equal definitions; the definition of everything else is its file.
local_names() {
  awk '
    FNR == 1 { inside = 0 }
    $0 == "namespace {" { inside = 1; next }
    /^}  \/\/ namespace/ { inside = 0 }
    !inside || !/^[A-Za-z_]/ || /^(template|using namespace|namespace fs) / { next }
    {
      head = $0
      sub(/[({=;].*/, "", head)
      while (gsub(/<[^<>]*>/, "", head)) {}
      gsub(/\[[^]]*\]/, "", head)
      sub(/ :.*/, "", head)
      sub(/ +$/, "", head)
      if (head !~ / / || head ~ /::[A-Za-z_]+$/) next
      sub(/.*[ *&]/, "", head)
      definition = FILENAME
      if (/^using /) {
        definition = $0
        sub(/;.*/, "", definition)
        gsub(/ /, "", definition)
      }
      print head, definition, FILENAME
    }' "$@"
}

complaints=0
check() { # the sources of one library
  local name files
  while read -r name files; do
    echo "$name is defined in $files: rename one, or share one definition"
    complaints=$((complaints + 1))
  done < <(local_names "$@" | sort -u -k 1,2 | awk '
    { count[$1]++; files[$1] = files[$1] (count[$1] > 1 ? " and " : "") $3 }
    END { for (name in count) if (count[name] > 1) print name, files[name] }' | sort)
}

# Sources with compile options of their own (kernels/loops) are never part of a group.
sources() {
  find "$@" -name '*.cpp' ! -path '*/kernels/loops/*' | sort
}

mapfile -t core < <(sources src/base src/config src/text src/metrics src/report)
mapfile -t torch < <(sources src/data src/model src/kernels src/optim src/checkpoint src/decoding src/translation \
  src/training)
check "${core[@]}"
check "${torch[@]}"
for folder in src/cli src/commands src/serve src/api tools/corpus_generator; do
  [[ -d $folder ]] || continue
  mapfile -t files < <(sources "$folder" | grep -v main.cpp)
  check "${files[@]}"
done

declare -A owner=()
while IFS= read -r file; do
  name=$(basename "$file" .cpp)
  found=$(sed -n 's/^namespace regard\(::[a-z_:]*\)\{0,1\}::\([a-z0-9_]*_test\) {$/\2/p' "$file")
  if [[ $found != "$name" && $found != "$(basename "$(dirname "$file")")_$name" ]]; then
    echo "$file: found namespace '$found', expected regard::$name; each test file has a namespace of its own"
    complaints=$((complaints + 1))
  elif [[ -v owner[$found] ]]; then
    echo "$file: its namespace $found is that of ${owner[$found]} too; begin it with the name of the folder"
    complaints=$((complaints + 1))
  fi
  owner[$found]=$file
done < <(find tests -name '*_test.cpp' | sort)

echo "${#core[@]} + ${#torch[@]} sources and ${#owner[@]} test files checked, $complaints against the rule"
((complaints == 0 && ${#torch[@]} > 0))
