"""From raw text to a good translator, by the wall clock: tokenizers and all validation included."""

import csv
import json
import pathlib

from programs import timed, train, work_folder
from report import REGARD, ROOT, build, need_data, table

MARKS = (25, 30, 33, 35)
TEST = "data/multi30k/test_2016_flickr"


class Watch:
    """Notes when each line of validations.tsv appeared."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "validations.tsv"
        self.rows = []  # (seconds since the start, the line's columns)

    def __call__(self, seconds):
        if not self.path.is_file():
            return
        text = self.path.read_text(encoding="utf-8")
        lines = text[: text.rfind("\n") + 1].splitlines()
        rows = list(csv.DictReader(lines, delimiter="\t"))
        self.rows += [(seconds, row) for row in rows[len(self.rows):]]


def minutes(seconds):
    return f"{seconds / 60:.1f}"


def first_at(rows, mark):
    return next(((s, row) for s, row in rows if float(row["bleu"]) >= mark), None)


def run(report, options):
    parts = ("train", "val", "test_2016_flickr")
    need_data(*(f"{part}.{side}" for part in parts for side in ("en", "de")))
    build("regard")
    overrides = []
    if options.quick:
        overrides = ["training.max_steps=300", "training.validation_every=100"]
    with work_folder() as work:
        folder = ROOT / options.keep if options.keep else work / "run"
        watch = Watch(folder)
        whole = train(options.config, folder, options, *overrides, watch=watch)
        watch(whole.seconds)
        test = [REGARD, "evaluate", "-m", folder, "-s", f"{TEST}.en", "-r", f"{TEST}.de"]
        test += ["--beam-size", 5, "--threads", options.threads, "--json", "-o", work / "test.de"]
        testing = timed(test, work / "test.log", answer=work / "test.json")
        score = json.loads((work / "test.json").read_text(encoding="utf-8"))

    bleu = score["bleu"]["score"]
    best = max(watch.rows, key=lambda row: float(row[1]["bleu"]))
    rows = []
    for mark in MARKS:
        found = first_at(watch.rows, mark)
        rows.append(
            [f"validation BLEU {mark}", found[1]["step"], minutes(found[0])]
            if found
            else [f"validation BLEU {mark}", "–", "not reached"]
        )
    rows.append([f"the best, {float(best[1]['bleu']):.2f}", best[1]["step"], minutes(best[0])])
    rows.append(["the end of training", watch.rows[-1][1]["step"], minutes(whole.seconds)])
    report.say(
        f"`{options.config}` from raw text, by the wall clock from the start of the process; "
        "validation is greedy, on the validation pair."
    )
    report.say(table(["", "step", "minutes"], rows))
    report.say(f"Test 2016, beam 5, the best checkpoint: **BLEU {bleu:.2f}**.")
    report.figures.update(
        {
            "config": options.config,
            "seconds_to": {
                str(mark): found[0] for mark in MARKS if (found := first_at(watch.rows, mark))
            },
            "best_validation_bleu": float(best[1]["bleu"]),
            "seconds_to_best": best[0],
            "training_seconds": whole.seconds,
            "testing_seconds": testing.seconds,
            "test_bleu": bleu,
            "peak_memory": whole.peak_bytes,
        }
    )
