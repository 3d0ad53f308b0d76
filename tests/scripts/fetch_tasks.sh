#!/usr/bin/env bash
# scripts/fetch_tasks.sh refuses an archive that is missing, broken or altered: one sentence, exit code 3, and no text is
# left. $1 is the source folder.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Runs the script with the archives of a folder; it must fail with the words.
refuses() {
  local code=0 found
  found=$("$1/scripts/fetch_tasks.sh" scan --from "$folder/$2" --to "$folder/texts" 2>&1) || code=$?
  if ((code != 3)) || [[ $found != *"$3"* || $found == *Traceback* || $(wc -l <<<"$found") != 1 ]]; then
    echo "found exit code $code and: $found" >&2
    echo "expected exit code 3 and one line with: $3" >&2
    exit 1
  fi
  if [[ -n $(ls -A "$folder/texts" 2>/dev/null) ]]; then
    echo "found texts after: $found" >&2
    exit 1
  fi
}

mkdir -p "$folder"/{missing,short,broken,altered}/scan
printf 'I_JUMP\n' >"$folder/altered/scan/test.trg"
tar -C "$folder/altered" -cJf "$folder/altered/scan.tar.xz" scan
rm -r "$folder"/*/scan
head -c 100 "$folder/altered/scan.tar.xz" >"$folder/short/scan.tar.xz"
{
  head -c 80 "$folder/altered/scan.tar.xz"
  printf '\377\377'
  tail -c +83 "$folder/altered/scan.tar.xz"
} >"$folder/broken/scan.tar.xz"

refuses "$1" missing "found neither scan.tar.xz nor a clone"
refuses "$1" short "found a broken archive"
refuses "$1" broken "found a broken archive"
refuses "$1" altered "found texts of scan with the hash"
