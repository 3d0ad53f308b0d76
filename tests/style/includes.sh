#!/usr/bin/env bash
# Holds the include table of ARCHITECTURE.md: which folder of src/ may include which, and in which
# folders each third-party library shows. $1 is the source folder.
set -euo pipefail

cd "$1"

# Where each third-party header may be included, as patterns over paths below src/.
declare -A confined=(
  ['yaml-cpp/']='config/*'
  ['sentencepiece']='text/*'
  ['utf8proc']='text/*'
  ['zlib.h']='data/*'
  ['archive.h']='data/byte_stream.cpp'
  ['libxml/']='data/tmx_reader.cpp'
  ['spdlog/']='base/*'
  ['nlohmann/']='base/*'
  ['CLI/']='cli/*'
  ['torch/csrc/distributed/']='training/process_group*'
)
readonly torch_free='base config text metrics report cli'

complaints=0
complain() {
  printf '%s\n' "$*"
  complaints=$((complaints + 1))
}

# Prints 'folder allowed allowed …' for each folder in the table. "everything below" stands for
# the folders of all later rows.
table() {
  awk -F '|' '
    /^\| src\/ \|/ { inside = 1; next }
    inside && !/^\|/ { exit }
    inside && !/^\|-/ { names[++rows] = $2; allowed[rows] = $4 }
    END {
      for (row = rows; row >= 1; --row) {
        gsub(/\//, "", names[row])
        if (allowed[row] ~ /everything below/) allowed[row] = below
        gsub(/[^a-z_ .]/, "", allowed[row])
        count = split(names[row], folders, " ")
        for (i = 1; i <= count; ++i) print folders[i], allowed[row]
        below = below " " names[row]
      }
    }' ARCHITECTURE.md
}

declare -A may_include=()
while read -r folder allowed; do
  read -r -a allowed_list <<<"$allowed"
  may_include[$folder]=" $folder ${allowed_list[*]} "
done < <(table)
if ((${#may_include[@]} < 5)); then
  echo "ARCHITECTURE.md: no include table found (a row '| src/ | holds | may include |' opens it)"
  exit 1
fi

for folder in src/*/; do
  folder=$(basename "$folder")
  [[ -v may_include[$folder] ]] ||
    complain "src/$folder is not in the table of ARCHITECTURE.md; add a row that says what it" \
      "holds and may include"
done

check_own() { # FILE LINE FOLDER INCLUDED
  local wanted=${4%%/*}
  if [[ ! -e src/$4 && ! -e include/$4 ]]; then
    complain "src/$1:$2: no src/$4; write own headers as \"folder/file.h\", others in <>"
  elif [[ -e include/$4 ]]; then
    [[ $3 == api ]] || complain "src/$1:$2: $3 includes $4, which is for other programs and api/"
  elif [[ -v may_include[$3] && ${may_include[$3]} != *" $wanted "* ]]; then
    complain "src/$1:$2: $3 includes $4, but may include only:${may_include[$3]}(ARCHITECTURE.md)"
  fi
}

check_third_party() { # FILE LINE FOLDER INCLUDED
  local header pattern ok
  for header in "${!confined[@]}"; do
    [[ $4 == "$header"* ]] || continue
    ok=false
    IFS='|' read -r -a patterns <<<"${confined[$header]}"
    for pattern in "${patterns[@]}"; do
      # shellcheck disable=SC2053 # a pattern, meant to match as one
      [[ $1 == $pattern ]] && ok=true
    done
    [[ $ok == true ]] ||
      complain "src/$1:$2: <$4> may show only in src/${confined[$header]//|/ and src/}"
  done
  if [[ $4 =~ ^(torch|ATen|c10)/ && " $torch_free " == *" $3 "* ]]; then
    complain "src/$1:$2: <$4> in $3, which does without Torch (so do: $torch_free)"
  fi
}

files=0
while IFS=: read -r file line include; do
  file=${file#src/}
  included=${include#*[<\"]}
  included=${included%%[>\"]*}
  if [[ $include == *\"* ]]; then
    check_own "$file" "$line" "${file%%/*}" "$included"
  fi
  check_third_party "$file" "$line" "${file%%/*}" "$included"
  files=$((files + 1))
done < <(grep -rnE --include='*.h' --include='*.cpp' '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' src)

if ((files == 0)); then
  complain "no include found in src/: is $1 the source folder?"
fi
echo "$files includes checked, $complaints against the table"
((complaints == 0))
