"""Trains the recipes and scores them on test 2016 (Flickr): the rows of the first table."""

import csv
import dataclasses
import json
import statistics

from figures import recipe
from project import ROOT, machine, read, regard

TEST = "data/multi30k/test_2016_flickr"


@dataclasses.dataclass(frozen=True)
class Training:
    name: str
    config: str  # name of a file in configs/
    language: str = "de"
    settings: tuple = ()  # key=value
    init_from: str = ""  # name of the training with whose weights this one starts

    def command(self, runs):
        """Returns the arguments of regard that train this model in the folder `runs`."""
        begin = ("--init-from", f"{runs}/{self.init_from}") if self.init_from else ()
        return (
            "train", "-c", f"configs/{self.config}.yaml", *begin,
            f"training.model_dir={runs}/{self.name}",
            "data.train.0.src=data/multi30k/train.en",
            f"data.train.0.trg=data/multi30k/train.{self.language}",
            "data.dev.src=data/multi30k/val.en",
            f"data.dev.trg=data/multi30k/val.{self.language}",
            *self.settings,
        )  # fmt: skip

    @property
    def recipe(self):
        """Returns a hash that identifies the recipe of stored figures."""
        return recipe(f"configs/{self.config}.yaml", self.command(""))

    @property
    def label(self):
        return " ".join((self.config, *self.settings)) + (
            f", from `{self.init_from}`" if self.init_from else ""
        )

    def row(self, figures):
        """Returns the figures, or None if they are not measured yet."""
        return figures.of(self.recipe, "training", self.name)

    def train(self, runs, settings):
        regard(*self.command(runs), *settings)

    def score(self, runs):
        """Returns the figures of a trained run. This is the only function that reads the test set."""
        run = ROOT / runs / self.name
        test = json.loads(
            regard("evaluate", "-m", run, "-s", f"{TEST}.en", "-r", f"{TEST}.{self.language}", "--json")
        )
        with open(run / "validations.tsv", encoding="utf-8") as file:
            validations = list(csv.DictReader(file, delimiter="\t"))
        best = max(validations, key=lambda row: float(row["bleu"]))
        train_log = read(run / "train.jsonl").splitlines()
        return {
            "recipe": self.recipe,
            "machine": machine(),
            "threads": json.loads(read(run / "manifest.json"))["threads"],
            "best_step": int(best["step"]),
            "minutes": float(validations[-1]["seconds"]) / 60,
            "tokens_per_second": statistics.median(
                json.loads(line)["target_tokens_per_second"] for line in train_log
            ),
            "validation_bleu": float(best["bleu"]),
            "bleu": test["bleu"]["score"],
            "chrf": test["chrf"]["score"],
            "perplexity": test["perplexity"],
        }


def seed(number):
    return f"training.random_seed={number}"


TRAININGS = [
    Training("multi30k", "multi30k"),
    Training("multi30k_seed43", "multi30k", settings=(seed(43),)),
    Training("multi30k_best", "multi30k_best", settings=(seed(142),), init_from="multi30k"),
    Training(
        "multi30k_best_seed43", "multi30k_best", settings=(seed(143),), init_from="multi30k_seed43"
    ),
    Training("multi30k_transformer", "multi30k_transformer"),
    Training("multi30k_fixed_context", "multi30k_fixed_context"),
    Training("multi30k_french", "multi30k", "fr"),
    Training(
        "multi30k_reset_after",
        "multi30k",
        settings=("model.encoder.reset_gate=after", "model.decoder.reset_gate=after"),
    ),
]
