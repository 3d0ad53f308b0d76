"""reads.py RUN…: compares the scalars that TensorBoard reads from a run with its own records."""

import csv
import json
import math
import pathlib
import struct
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def to_float(value):
    """Rounds to a 32-bit float, as event files do."""
    return struct.unpack("f", struct.pack("f", value))[0]


def expected(run):
    """Maps tags to [(step, value)], from train.jsonl and validations.tsv."""
    series = {}
    for line in (run / "train.jsonl").read_text().splitlines():
        row = json.loads(line)
        for key, value in row.items():
            series.setdefault(f"train/{key}", []).append((row["step"], value))
    with open(run / "validations.tsv", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for key in ("loss", "perplexity", "bleu", "chrf"):
                series.setdefault(f"validation/{key}", []).append((int(row["step"]), float(row[key])))
    return series


failures = 0
for run in map(pathlib.Path, sys.argv[1:]):
    accumulator = EventAccumulator(str(run), size_guidance={"scalars": 0})
    accumulator.Reload()
    records = expected(run)
    tags = accumulator.Tags()["scalars"]
    values = 0
    for tag in tags:
        read = [(event.step, event.value) for event in accumulator.Scalars(tag)]
        wanted = [(step, to_float(value)) for step, value in records[tag]]
        values += len(read)
        # NaN differs from itself: a series with NaN is not compared.
        if read != wanted and not any(math.isnan(value) for _, value in read + wanted):
            failures += 1
            print(f"{run}: {tag}: found {read} in TensorBoard, expected {wanted}")
    failures += not tags
    files = len(list(run.glob("events.out.tfevents.*.regard")))
    print(f"{run}: {files} event files, {len(tags)} tags, {values} values, {failures} differ")
sys.exit(failures > 0)
