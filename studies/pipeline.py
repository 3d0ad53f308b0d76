"""Runs the pipeline of the best translator (configs/pipelines/best.yaml) with a time for each training, and writes
docs/pipeline.md.

English to German on Multi30k: the first 5,000 training pairs, or all. Steps that are finished are kept; others go on.
"""

import json

import project
from cells import Study, short_parser_of
from pages import table
from project import ROOT, machine, need_multi30k, regard

SIZES = {5000: ("vocabulary_size=1000", "max_steps=6000"), 29000: ()}


def main():
    parser = short_parser_of("pipeline", __doc__)
    parser.add_argument("--minutes", type=float, default=15, help="of each training (default: %(default)s)")
    parser.add_argument("--pairs", type=int, choices=SIZES, default=5000, help="default: %(default)s")
    options = parser.parse_args()
    study = Study(options, "pipeline")
    need_multi30k(*(f"{part}.{side}" for part in ("train", "val", "test_2016_flickr") for side in ("en", "de")))
    steps = run(study, options.pairs, options.minutes)
    rows = [[step["name"], step["command"], f"{step['seconds'] / 60:.1f}", *scores_of(step)] for step in steps]
    total = sum(step["seconds"] for step in steps) / 60
    figures = table(["step", "command", "minutes", "validation BLEU", "test BLEU"], rows)
    study.write(
        {
            f"pairs {options.pairs}": f"\n{figures}\nAt most {options.minutes:g} minutes for each training, "
            f"{total:.0f} minutes in all. {machine()}.\n"
        }
    )


def run(study, pairs, minutes):
    """The steps of a finished pipeline."""
    folder = study.folder / f"multi30k_{pairs}"
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    files = {}
    for part, name in (("train", ""), ("val", "dev_"), ("test_2016_flickr", "test_")):
        for side, key in (("en", "src"), ("de", "trg")):
            lines = (ROOT / "data/multi30k" / f"{part}.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
            path = folder / f"{part}.{side}"
            (ROOT / path).write_text("".join(lines[:pairs]), encoding="utf-8")
            files[name + key] = path
    variables = [f"{key}={path}" for key, path in files.items()]
    return json.loads(
        regard("pipeline", "configs/pipelines/best.yaml", *variables, f"out={folder / 'out'}", f"minutes={minutes:g}",
               *SIZES[pairs], "--json")
    )["steps"]  # fmt: skip


def scores_of(step):
    """The BLEU of the best validation of a training, and of an evaluation."""
    bleu = step["scores"].get("bleu")
    cell = "" if bleu is None else f"{bleu:.2f}"
    return ["", cell] if step["command"] == "evaluate" else [cell, ""]


project.run(main)
