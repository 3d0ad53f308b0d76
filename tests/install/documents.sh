#!/usr/bin/env bash
# Installs the programs without the library, and moves the install tree. Every document that the programs, their
# output files and the installed documents refer to must be installed, where the message says.
# usage: documents.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build_dir=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

cmake --install "$build_dir" --prefix "$work/before" --strip --component program >"$work/log" ||
  fail "$(<"$work/log")"
mv "$work/before" "$work/moved"
prefix=$(realpath "$work/moved")
documents=$prefix/share/doc/regard

for folder in include lib/cmake; do
  [[ ! -e $prefix/$folder ]] || fail "$folder is installed with the component program"
done
for library in "$prefix"/lib/*.so*; do
  name=$(basename "$library")
  grep -qF "${name%%.so*}" "$documents/NOTICE" || fail "NOTICE does not list $name"
  ! readelf -SW "$library" | grep -q ' \.symtab ' || fail "$library is not stripped"
done

licences=("$documents"/licenses/*)
((${#licences[@]} >= 12)) || fail "found the texts of ${#licences[@]} licences, expected those that NOTICE lists"

shown=$("$prefix/bin/regard" --help | sed -n 's/^Documentation: //p')
[[ $shown == "$documents/docs" ]] || fail "documents in $shown"

# Pages that the programs name.
named=$(grep -ahoE 'docs/[a-z_]+\.md' "$prefix"/bin/regard "$prefix"/bin/regard-torch | sort -u)
[[ $(wc -l <<<"$named") -gt 2 ]] || fail "the programs name no pages: $named"
for page in $named; do
  [[ -f $documents/$page ]] || fail "the programs name $page, which is not installed"
done

# Messages and files that lead to a page by its whole path, or to the folder of all pages.
pointed=$("$prefix/bin/regard" config init "$source_dir"/data/train.{en,fr} --yes 2>/dev/null |
  sed -n 's/^# \(.*own_language_pair.md\) says what.*/\1/p')
[[ -f $pointed ]] || fail "config init points to '$pointed'"
pointed=$("$prefix/bin/regard" config print --help-comments | sed -n '1s/^# docs\/ is \(.*\)\.$/\1/p')
[[ -f $pointed/data.md ]] || fail "config print --help-comments points to '$pointed'"
WORLD_SIZE=2 RANK=0 "$prefix/bin/regard" train -c "$source_dir/configs/quickstart.yaml" 2>"$work/log" &&
  fail "training began without MASTER_ADDR"
pointed=$(sed -n 's/.*(\(.*scaling.md\)).*/\1/p' "$work/log")
[[ -f $pointed ]] || fail "the message about MASTER_ADDR points to '$pointed'"

# Links between the installed documents, and to sources.
links=0
while IFS=: read -r page link; do
  links=$((links + 1))
  [[ -e $(dirname "$page")/$link ]] || fail "$page points to $link, which is not installed"
done < <(grep -roE --include='*.md' '\]\([^)#: ]+[)#]' "$documents" | sed 's/](//; s/[)#]$//')
((links > 50)) || fail "found only $links links"
if grep -q 'build/regard \(train\|translate\|config\)' "$documents/README.md"; then
  fail "README.md calls build/regard"
fi
