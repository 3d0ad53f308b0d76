#!/usr/bin/env python3
"""Prints a run's row of the table in docs/results.md: result_row.py RUN DIRECTION CONFIGURATION."""

import csv
import json
import statistics
import sys

run, direction, configuration = sys.argv[1:]
test = json.load(open(f"{run}/test_2016.json"))
manifest = json.load(open(f"{run}/manifest.json"))
rows = list(csv.DictReader(open(f"{run}/validations.tsv"), delimiter="\t"))
best = max(rows, key=lambda row: float(row["bleu"]))
speed = statistics.median(
    json.loads(line)["target_tokens_per_second"] for line in open(f"{run}/train.jsonl")
)
cells = [
    direction,
    f"`{configuration}`",
    str(manifest["threads"]),
    best["step"],
    f"{float(rows[-1]['seconds']) / 60:.0f} min",
    f"{speed:,.0f}",
    f"{float(best['bleu']):.2f}",
    f"**{test['bleu']['score']:.2f}**",
    f"{test['chrf']['score']:.2f}",
    f"{test['perplexity']:.2f}",
]
print("| " + " | ".join(cells) + " |")
