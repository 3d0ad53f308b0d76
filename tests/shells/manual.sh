#!/usr/bin/env bash
# The manual pages: one for each command, taken by mandoc and groff without a warning. $1 is the source
# folder, $2 the build folder; skipped where neither is installed.
set -euo pipefail

readonly skipped=77
regard=$2/regard

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$regard" man --into "$work"

failed=0
for command in $("$regard" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  cmp "$work/regard-$command.1" <("$regard" man "$command") || failed=1
done
cmp "$work/regard.1" <("$regard" man) || failed=1

# The page of a command says all that its help says.
for option in $("$regard" translate --help | grep -oE '^  (-[a-zA-Z],)?--[a-z0-9-]+' | grep -oE -e '--.*'); do
  grep -qF -e "\\fB${option//-/\\-}\\fR" "$work/regard-translate.1" || {
    echo "regard-translate.1: no $option"
    failed=1
  }
done

checkers=0
if command -v mandoc >/dev/null; then
  checkers=$((checkers + 1))
  mandoc -T lint -W warning "$work"/*.1 || failed=1
fi
if command -v groff >/dev/null && [[ -d /usr/share/groff ]]; then
  checkers=$((checkers + 1))
  for page in "$work"/*.1; do
    said=$(groff -man -Tutf8 -ww -z "$page" 2>&1) || failed=1
    [[ -z $said ]] || {
      echo "$said"
      failed=1
    }
  done
fi
((failed == 0)) || exit 1
((checkers > 0)) || {
  echo "skipped: neither mandoc nor groff is installed"
  exit "$skipped"
}
