#!/usr/bin/env bash
# No folder or file for leftovers: a name says what it holds. $1 is the source folder.
set -euo pipefail

cd "$1"
found=$(find src include tools tests data scripts studies docs cmake -regextype posix-extended \
  -iregex '.*/(utils?|helpers?|common|misc)(\.[a-z]+)?' 2>/dev/null || true)
if [[ $found ]]; then
  echo "names that do not say what is in there:"
  echo "$found"
  exit 1
fi
