"""The figures of this table beside BLEU."""

import json
import pathlib
import statistics
import tempfile

from cells import BUNDLED, scores
from project import regard

LENGTHS = "5,10,15,20,30,40,50"
LONG = ("data/test_long.en", "data/test_long.fr")


def sharpness(cell, *options):
    """The largest weight, averaged over all words of the greedy translations. With several heads, the weights are
    first averaged over the heads."""
    if not cell.system.has_weights:
        return {}
    source, _ = cell.task.data("test")
    with tempfile.TemporaryDirectory() as work:
        weights = pathlib.Path(work) / "weights"
        regard("translate", "-m", cell.run, "-i", source, "-o", pathlib.Path(work) / "text",
               "--beam-size", "1", "--attention-weights", weights, "--quiet", *options)  # fmt: skip
        lines = weights.read_text(encoding="utf-8").splitlines()
    rows = (row for line in lines for row in json.loads(line)["weights"])
    return {"largest_weight": statistics.mean(max(row) for row in rows)}


def alignment(cell, *options):
    """The alignment error rate, where the true alignments are known."""
    if cell.task is not BUNDLED or not cell.system.has_weights:
        return {}
    test = cell.score(*cell.task.data("test"), *options, "--alignments-gold", "data/test.align")
    return {"alignment_error_rate": test["alignment"]["error_rate"]}


def lengths(cell, *options):
    """BLEU by source length on long sentences."""
    if cell.task is not BUNDLED:
        return {}
    return {"by_length": cell.by_length(*LONG, LENGTHS, *options)}


MEASURES = (scores, sharpness, alignment, lengths)
