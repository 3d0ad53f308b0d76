#!/usr/bin/env bash
# Every table of figures in docs/ says when and with which commit it was measured. $1 is the source folder.
set -euo pipefail

python3 "$1/scripts/checks/figure_origins.py"
cd "$1" && PYTHONPATH=scripts/modules:studies/modules python3 - <<'EOF'
import pages
from cells import results_table

names = pages.git("log", "-2", "--format=%h").stdout.split()[::-1] or ["0000000"]
figures = [{"machine": "a machine", "commit": commit, "date": "2026-01-01"} for commit in names[::-1]]
text = results_table(["a", "b"], [["x", 1]], [*figures, None])
assert text.endswith(f"\n\nMeasured on 2026-01-01 with regard {' to '.join(names)}.\n"), text
without = results_table(["a", "b"], [["x", 1]], [figures[0], {"machine": "a machine"}])
assert pages.origins(without) is None, without
assert results_table(["a", "b"], [["x", 1]], [None]) is None
EOF
