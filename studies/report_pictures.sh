#!/usr/bin/env bash
# Makes the pictures of docs/report.md and README.md with the model of scripts/quickstart.sh: a screenshot of
# the report in Chromium, and the attention of one sentence. scripts/study.sh report_pictures [CHROMIUM]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly chromium=${1:-chromium}
readonly run=runs/quickstart
page=$(mktemp -d)
trap 'rm -rf "$page"' EXIT

build/regard report "$run" -o "$page/run.html"
"$chromium" --headless=new --no-sandbox --hide-scrollbars --window-size=1100,1180 \
  --screenshot="$PWD/docs/report_run.png" "file://$page/run.html" 2>/dev/null
sed -n 7p data/test.en | build/regard translate -m "$run" --picture docs/report_attention.svg
ls -l docs/report_run.png docs/report_attention.svg
