"""Measures translation with shortlists of several sizes: time of the whole program, and BLEU. The model is trained once
and kept."""

import json

from pages import table
from programs import timed, train
from project import BUILD, REGARD, need_multi30k, regard
from report import build, median

MODEL = BUILD / "bench" / "shortlist"
CONFIG = "configs/multi30k_fast.yaml"
STEPS = 1200
TRAINING = (
    "data.tokenizer.vocabulary_size=8000", f"training.max_steps={STEPS}", f"training.validation_every={STEPS}",
    "training.warmup_steps=200", "training.learning_rate=0.002",
)  # fmt: skip
SOURCE, REFERENCE = "data/multi30k/test_2016_flickr.en", "data/multi30k/test_2016_flickr.de"
SEARCHES = {"greedy": 1, "beam 5": 5}
SIZES = (0, 100, 50, 20)  # 0: no shortlist


def translate(precision, beam, size, options):
    """Translates the test lines; returns the seconds of the whole program."""
    command = [REGARD, "translate", "-m", MODEL, "-i", SOURCE, "-o", MODEL / "out", "--precision", precision]
    command += ["--beam-size", beam, "--threads", options.threads]
    command += ["--shortlist", MODEL / "shortlist", "--shortlist-best", size] if size else []
    return timed(command, MODEL / "translate.log").seconds


def run(report, options):
    build("regard")
    need_multi30k("train.en", "train.de", "val.en", "val.de", "test_2016_flickr.en", "test_2016_flickr.de")
    if not (MODEL / "best").exists():
        train(CONFIG, MODEL, options, *TRAINING)
    if not (MODEL / "shortlist").exists():
        regard("shortlist", "-m", MODEL, "-s", "data/multi30k/train.en", "-t", "data/multi30k/train.de",
               "-o", MODEL / "shortlist")  # fmt: skip
    rounds = 2 if options.quick else 5
    cases = [(precision, name, size) for precision in ("bf16", "int8") for name in SEARCHES for size in SIZES]
    seconds = {case: [] for case in cases}
    bleu = {}
    for index in range(rounds + 1):  # the first round fills the page cache
        for precision, name, size in cases:
            found = translate(precision, SEARCHES[name], size, options)
            if index == 0:
                scored = json.loads(regard("evaluate", "--hypotheses", MODEL / "out", "-r", REFERENCE, "--json"))
                bleu[precision, name, size] = scored["bleu"]["score"]
            else:
                seconds[precision, name, size].append(found)
    rows = []
    for precision, name, _ in cases[:: len(SIZES)]:
        plain = median(seconds[precision, name, 0])
        cells = [f"{1000 / plain:,.0f}, {bleu[precision, name, 0]:.2f}"]
        for size in SIZES[1:]:
            time = median(seconds[precision, name, size])
            cells.append(f"{1000 / time:,.0f} ({plain / time:.2f}), {bleu[precision, name, size]:.2f}")
        rows.append([precision, name, *cells])
    report.say(
        f"1,000 lines of the test of 2016 by a model of {STEPS:,} steps with a joint vocabulary of 8,000; sentences per "
        "second of the whole program, with its start and the reading of the shortlist (and how many times as fast as "
        f"without one), medians of {rounds} rounds in turn; and BLEU:"
    )
    report.say(table(["precision", "search", "no shortlist", *(f"`--shortlist-best {n}`" for n in SIZES[1:])], rows))
    report.figures["seconds"] = {" ".join(map(str, case)): median(times) for case, times in seconds.items()}
    report.figures["bleu"] = {" ".join(map(str, case)): score for case, score in bleu.items()}
