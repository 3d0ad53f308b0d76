"""Compares decoding methods on test 2016: four seeds of a small model, and one with a constant rate."""

import json

from project import ROOT, machine, regard
from trainings import TEST, Training, seed

# Keeps five checkpoints to average; their weights must not be moving averages already.
KEPT = ("training.moving_average=0", "training.save_every=200", "training.keep_newest=5")
COSINE = ("training.scheduling=cosine", "training.learning_rate_min=0.00001")


def small(name, *settings):
    return Training(f"small_{name}", "attention_comparison", settings=(*settings, *KEPT))


SEEDS = [small(f"seed{number}", seed(number), *COSINE) for number in (42, 43, 44, 45)]
CONSTANT = small("constant", seed(42))
MODELS = [*SEEDS, CONSTANT]


def averaged(runs, training):
    """Averages the last five checkpoints of a run; returns the model folder."""
    folder = ROOT / runs / f"{training.name}_average"
    regard("average", ROOT / runs / training.name, "--last", "5", "-o", folder, "--quiet")
    return folder


def methods(runs):
    """Returns label and options of each decoding method. The first is the baseline."""
    runs = ROOT / runs
    seeds = [runs / training.name for training in SEEDS]
    constant = runs / CONSTANT.name
    return [
        ("beam 5, seed 42", ["-m", seeds[0]]),
        ("greedy, seed 42", ["-m", seeds[0], "--beam-size", "1"]),
        *((f"beam 5, seed {n}", ["-m", run]) for n, run in zip((43, 44, 45), seeds[1:])),
        ("beam 5, seed 42, mean of the last 5 checkpoints", ["-m", averaged(runs, SEEDS[0])]),
        ("beam 5, seed 42, learning rate constant to the end", ["-m", constant]),
        ("the same, mean of the last 5 checkpoints", ["-m", averaged(runs, CONSTANT)]),
        ("beam 5, ensemble of the four seeds", ["-m", *seeds]),
        ("the same, linear mean", ["-m", *seeds, "--ensemble-mean", "linear"]),
    ]


def measure(runs, work):
    """Translates test 2016 with each method, and compares all with the first."""
    rows, texts = [], []
    for label, options in methods(runs):
        text = work / str(len(texts))
        score = json.loads(
            regard("evaluate", *options, "-s", f"{TEST}.en", "-r", f"{TEST}.de", "-o", text, "--json")
        )
        texts.append(text)
        rows.append({"label": label, "perplexity": score["perplexity"]})
    compared = json.loads(
        regard("evaluate", "--hypotheses", *texts, "-s", f"{TEST}.en", "-r", f"{TEST}.de",
               "--confidence", "--paired-bs", "--json")
    )["systems"]  # fmt: skip
    for row, system in zip(rows, compared):
        for metric in ("bleu", "chrf"):
            row[metric] = system[metric]["score"]
            row[f"{metric}_half_width"] = system[metric]["confidence"]["half_width"]
        row["p_value"] = system["bleu"].get("p")
    return {"recipe": recipe(), "machine": machine(), "rows": rows}


def recipe():
    return " ".join(training.recipe for training in MODELS)
