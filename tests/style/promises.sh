#!/usr/bin/env bash
# Every test that SECURITY.md names is there: Suite.Test, Suite.* or fuzz.TARGET. $1 is the source folder.
set -euo pipefail

cd "$1"

has() { # SUITE TEST
  if [[ $1 == fuzz ]]; then
    [[ $2 == '*' || -f tests/fuzz/$2.cpp ]]
  else
    grep -rqE --include='*_test.cpp' "^TEST(_F|_P)?\($1, ${2/\*/[A-Za-z0-9]+}\)" tests
  fi
}

# shellcheck disable=SC2016 # backquotes of Markdown
named() {
  grep -oE '`([A-Z][A-Za-z0-9]+|fuzz)\.([A-Z][A-Za-z0-9]+|[a-z_]+|\*)`' SECURITY.md | tr -d '`' | sort -u
}

missing=0
count=0
while IFS=. read -r suite test; do
  count=$((count + 1))
  has "$suite" "$test" || {
    echo "SECURITY.md names $suite.$test, which is no test"
    missing=$((missing + 1))
  }
done < <(named)
echo "$count tests named, $missing missing"
((count > 0 && missing == 0))
