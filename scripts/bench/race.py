"""Measures the wall-clock time from raw text to a BLEU score, including tokenizers and all validations."""

import csv
import json
import pathlib

from programs import timed, train, work_folder
from pages import table
from project import REGARD, ROOT, need_multi30k
from report import build

MARKS = (25, 30, 33, 35, 37)  # test BLEU to be reached
TEST = "data/multi30k/test_2016_flickr"


class Watch:
    """Records when each line of validations.tsv appeared. Passed to timed() as `watch`."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "validations.tsv"
        self.rows = []  # (seconds since the start, columns of the line)

    def __call__(self, seconds):
        if not self.path.is_file():
            return
        text = self.path.read_text(encoding="utf-8")
        lines = text[: text.rfind("\n") + 1].splitlines()  # without an incomplete last line
        rows = list(csv.DictReader(lines, delimiter="\t"))
        self.rows += [(seconds, row) for row in rows[len(self.rows):]]


def minutes(seconds):
    return f"{seconds / 60:.1f}"


def first_at(rows, mark):
    """Returns the first row with this test BLEU or more, or None."""
    return next((row for row in rows if row["test_bleu"] >= mark), None)


def test_bleu(model, work, options):
    """Returns the BLEU of the test set with beam search."""
    command = [REGARD, "evaluate", "-m", model, "-s", f"{TEST}.en", "-r", f"{TEST}.de", "--json"]
    command += ["--beam-size", 5, "--threads", options.threads]
    timed(command, work / "test.log", answer=work / "test.json")
    return json.loads((work / "test.json").read_text(encoding="utf-8"))["bleu"]["score"]


def race(config, report, options):
    """Trains by a configuration and reports when each test score was reached. Returns the figures."""
    # Keeps every checkpoint, to score it after the clock has stopped.
    overrides = ["training.keep_newest=1000"]
    if options.quick:
        overrides += ["training.max_steps=300", "training.validation_every=100"]
    with work_folder() as work:
        folder = (ROOT / options.keep if options.keep else work) / pathlib.Path(config).stem
        (folder / "validations.tsv").unlink(missing_ok=True)  # left by an earlier race
        watch = Watch(folder)
        whole = train(config, folder, options, *overrides, watch=watch)
        watch(whole.seconds)
        rows = [
            {
                "step": int(row["step"]),
                "seconds": seconds,
                "validation_bleu": float(row["bleu"]),
                "test_bleu": test_bleu(
                    folder / "checkpoints" / f"step-{int(row['step']):08d}", work, options
                ),
            }
            for seconds, row in watch.rows
        ]
        chosen = test_bleu(folder, work, options)  # of the best checkpoint by validation

    report.say(
        f"`{config}` from raw text, in wall-clock time from the start of the process, "
        "including the tokenizer and all validations (greedy, on the validation pair)."
    )
    report.say(
        table(
            ["step", "minutes", "validation BLEU", "test 2016 BLEU"],
            [
                [
                    row["step"],
                    minutes(row["seconds"]),
                    f"{row['validation_bleu']:.2f}",
                    f"{row['test_bleu']:.2f}",
                ]
                for row in rows[len(rows) % 2 :: 2]  # every other, and the last
            ],
        )
    )
    marks = {mark: first_at(rows, mark) for mark in MARKS}
    reached = ", ".join(
        f"{mark} after **{minutes(row['seconds'])}** minutes" if row else f"{mark} not reached"
        for mark, row in marks.items()
    )
    report.say(
        f"Test BLEU {reached}. The best checkpoint by validation, which the run keeps as `best`: "
        f"**{chosen:.2f}** after {minutes(whole.seconds)} minutes in all. The test set (beam 5) was "
        "translated with each checkpoint after the clock had stopped; nothing was chosen by it."
    )
    return {
        "config": config,
        "validations": rows,
        "seconds_to": {str(mark): row["seconds"] for mark, row in marks.items() if row},
        "training_seconds": whole.seconds,
        "test_bleu": chosen,
        "peak_memory": whole.peak_bytes,
    }


def run(report, options):
    parts = ("train", "val", "test_2016_flickr")
    need_multi30k(*(f"{part}.{side}" for part in parts for side in ("en", "de")))
    build("regard")
    report.figures["races"] = [race(config, report, options) for config in options.config]
