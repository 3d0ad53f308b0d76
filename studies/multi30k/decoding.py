"""Compares decoding methods on test 2016: four seeds of a small model, and one with a constant rate."""

import json
import pathlib
import tempfile

import pages
from project import machine, regard
from trainings import TEST, Translator, recipe_of, seed

# Keeps five checkpoints to average; their weights must not be moving averages already.
KEPT = ("training.moving_average=0", "training.save_every=200", "training.keep_newest=5")
COSINE = ("training.scheduling=cosine", "training.learning_rate_min=0.00001")


class Decoding:
    def __init__(self, study):
        def small(name, *settings):
            return Translator(study, f"small_{name}", "attention_comparison", own=(*settings, *KEPT))

        self.study = study
        self.seeds = [small(f"seed{number}", seed(number), *COSINE) for number in (42, 43, 44, 45)]
        self.constant = small("constant", seed(42))
        self.models = [*self.seeds, self.constant]

    def result(self):
        """Returns the figures, or None if they are not measured yet."""
        return self.study.figures.of(recipe_of(self.models), "decoding")

    def prepare(self, threads):
        """Trains the models and stores the figures."""
        for model in self.models:
            model.train(threads)
        figures = {"recipe": recipe_of(self.models), "machine": machine(), "rows": self.measure()}
        self.study.figures.put(figures, "decoding")

    def methods(self):
        """Returns label and options of each decoding method. The first is the baseline."""
        first, *others = runs = [training.run for training in self.seeds]
        return [
            ("beam 5, seed 42", ["-m", first]),
            ("greedy, seed 42", ["-m", first, "--beam-size", "1"]),
            *((f"beam 5, seed {n}", ["-m", run]) for n, run in zip((43, 44, 45), others)),
            ("beam 5, seed 42, mean of the last 5 checkpoints", ["-m", averaged(first)]),
            ("beam 5, seed 42, learning rate constant to the end", ["-m", self.constant.run]),
            ("the same, mean of the last 5 checkpoints", ["-m", averaged(self.constant.run)]),
            ("beam 5, ensemble of the four seeds", ["-m", *runs]),
            ("the same, linear mean", ["-m", *runs, "--ensemble-mean", "linear"]),
        ]

    def measure(self):
        """Translates test 2016 with each method, and compares all with the first."""
        rows, texts = [], []
        pair = ("-s", f"{TEST}.en", "-r", f"{TEST}.de")
        with tempfile.TemporaryDirectory() as folder:
            for label, options in self.methods():
                texts.append(pathlib.Path(folder) / str(len(texts)))
                score = json.loads(regard("evaluate", *options, *pair, "-o", texts[-1], "--json"))
                rows.append({"label": label, "perplexity": score["perplexity"]})
            compared = regard("evaluate", "--hypotheses", *texts, *pair, "--confidence", "--paired-bs", "--json")
        for row, system in zip(rows, json.loads(compared)["systems"]):
            for metric in ("bleu", "chrf"):
                row[metric] = system[metric]["score"]
                row[f"{metric}_half_width"] = system[metric]["confidence"]["half_width"]
            row["p_value"] = system["bleu"].get("p")
        return rows

    def table(self):
        found = self.result()
        if not found:
            return None
        rows = [
            [
                row["label"],
                *(f"{row[metric]:.2f} ± {row[f'{metric}_half_width']:.2f}" for metric in ("bleu", "chrf")),
                f"{row['perplexity']:.2f}",
                "–" if row["p_value"] is None else f"{row['p_value']:.3f}",
            ]
            for row in found["rows"]
        ]
        return pages.table(["", "BLEU", "chrF2", "perplexity", "p"], rows) + f"\nMachine: {found['machine']}.\n"


def averaged(run):
    """Averages the last five checkpoints of a run; returns the model folder."""
    folder = run.with_name(f"{run.name}_average")
    regard("average", run, "--last", "5", "-o", folder, "--quiet")
    return folder
