"""Measures the translation of lines that hold several sentences, and writes docs/decoding.md.

Joins the lines of Multi30k's test set of 2016 in twos, threes and sixes, and translates them English to German: as whole
lines, by default, and each line of the test set by itself. Trains configs/multi30k_fast.yaml if its run does not exist.
"""

import json
import tempfile
from pathlib import Path

import project
from cells import Study, short_parser_of
from pages import table
from project import ROOT, machine, need_multi30k, regard

WAYS = {"whole lines": ("--whole-lines",), "default": (), "each sentence": None}


def main():
    study = Study(short_parser_of("paragraphs", __doc__, "runs").parse_args(), "decoding")
    run = study.folder / "multi30k_fast"
    if not (ROOT / run / "best").exists():
        need_multi30k("train.en", "train.de", "val.en", "val.de")
        regard("train", "-c", "configs/multi30k_fast.yaml", f"training.model_dir={run}", *study.trial)
    need_multi30k("test_2016_flickr.en", "test_2016_flickr.de")
    sides = [
        (ROOT / "data/multi30k" / f"test_2016_flickr.{side}").read_text(encoding="utf-8").splitlines()
        for side in ("en", "de")
    ]
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(run, Path(folder), sides, count) for count in (1, 2, 3, 6)]
    figures = table(["sentences in a line", "lines", *(f"{way}: BLEU, length" for way in WAYS)], rows)
    study.write({"paragraphs": f"\n{figures}\nLength: words of the translations by those of the references. {machine()}.\n"})


def row(run, folder, sides, count):
    """The scores of lines of `count` sentences."""
    source, reference = (joined(side, count) for side in sides)
    (folder / "single").write_text("\n".join(sides[0]) + "\n", encoding="utf-8")
    (folder / "source").write_text("\n".join(source) + "\n", encoding="utf-8")
    (folder / "reference").write_text("\n".join(reference) + "\n", encoding="utf-8")
    cells = []
    for options in WAYS.values():
        if options is None:  # the test set, whose lines have one sentence with few exceptions
            lines = joined(regard("translate", "-m", run, "-i", folder / "single", "--whole-lines").splitlines(), count)
        else:
            lines = regard("translate", "-m", run, "-i", folder / "source", *options).splitlines()
        (folder / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
        scores = regard("evaluate", "--hypotheses", folder / "lines", "-r", folder / "reference", "--force", "--json")
        words = [sum(len(line.split()) for line in text) for text in (lines, reference)]
        cells.append(f"{json.loads(scores)['bleu']['score']:.1f}, {words[0] / words[1]:.2f}")
    return [count, len(source), *cells]


def joined(lines, count):
    return [" ".join(lines[i : i + count]) for i in range(0, len(lines), count)]


project.run(main)
