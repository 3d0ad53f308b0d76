"""The figures of these tables beside BLEU: BLEU of long real sentences, and agreement at a distance."""

import pathlib
import tempfile

from cells import BUNDLED, scores
from project import ROOT, generate, regard
from systems import COMPARED

LENGTHS = "10,15,20,30,40,60"
PAIRS = 200  # for each number of words
SEED = 7


def joined(cell, side, count):
    """Returns the lines of both test sets of Multi30k, `count` consecutive lines in one."""
    language = (cell.task.source, cell.task.target)[side]
    lines = []
    for year in ("2016", "2017"):
        path = ROOT / "data" / "multi30k" / f"test_{year}_flickr.{language}"
        lines += path.read_text(encoding="utf-8").splitlines()
    whole = len(lines) // count * count
    return [" ".join(lines[i : i + count]) for i in range(0, whole, count)]


def long_sentences(cell, *options):
    """BLEU by length on the test sets as they are, joined in pairs, and joined in triples."""
    if cell.task is BUNDLED or cell.system.name not in COMPARED:
        return {}
    by_length = {}
    with tempfile.TemporaryDirectory() as work:
        for count in (1, 2, 3):
            files = []
            for side in (0, 1):
                files.append(pathlib.Path(work) / f"{count}.{side}")
                files[side].write_text("\n".join(joined(cell, side, count)) + "\n", encoding="utf-8")
            by_length[str(count)] = cell.by_length(*files, LENGTHS, *options)
    return {"joined": by_length}


def log_probabilities(run, source, target, *options):
    """Returns log P of each line of target."""
    printed = regard("score", "-m", run, "-s", source, "-t", target, "--quiet", *options)
    return [float(line.split()[0]) for line in printed.splitlines()]


def agreement(cell, *options):
    """The share of pairs whose right translation is more probable than that with the verb in the wrong number, by the
    words between subject and verb: all pairs, and those whose nearest noun has the other number."""
    if cell.task is not BUNDLED or cell.system.name not in COMPARED:
        return {}
    with tempfile.TemporaryDirectory() as work:
        sizes = [word for name in ("train", "dev", "test", "test-long") for word in (f"--{name}", 0)]
        generate("generate_corpus", "--out", work, "--agreement", PAIRS, "--seed", SEED, *sizes)
        work = pathlib.Path(work)
        source = work / "agreement.en"
        right = log_probabilities(cell.run, source, work / "agreement.fr", *options)
        wrong = log_probabilities(cell.run, source, work / "agreement_wrong.fr", *options)
        kinds = [line.split("\t") for line in (work / "agreement.tsv").read_text().splitlines()]
    shares = {}
    for (words, attracted), p, q in zip(kinds, right, wrong, strict=True):
        for key in (words, f"{words} attracted")[: 1 + int(attracted)]:
            shares.setdefault(key, []).append(p > q)
    return {"agreement": {key: sum(found) / len(found) for key, found in shares.items()}}


MEASURES = (scores, long_sentences, agreement)
