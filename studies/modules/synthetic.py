"""Pairs that trained models make from a text, by `regard synthesize`."""

import json
import pathlib
import threading

from figures import recipe
from project import regard


class Synthetic:
    """`stem` is the path of the pairs without .src and .trg, `models` are trainings, an ensemble if there are several.
    `options` are those of regard synthesize."""

    def __init__(self, stem, models, text, *options):
        self.stem = pathlib.Path(stem)
        self.models = models
        self.text = text
        self.options = options
        self.lock = threading.Lock()

    @property
    def recipe(self):
        """Returns a hash that changes with the models and the options."""
        return recipe(self.models[0].config, (*(model.recipe for model in self.models), *self.options))

    @property
    def command(self):
        """Returns the arguments of regard that make the pairs."""
        runs = (str(model.run) for model in self.models)
        return ("synthesize", "-m", *runs, "-i", str(self.text), "-o", str(self.stem), *self.options)

    def prepare(self, threads):
        """Makes the pairs after the models, goes on with them, or does nothing if they are complete."""
        with self.lock:
            for model in self.models:
                model.prepare(threads)
            self.stem.parent.mkdir(parents=True, exist_ok=True)
            regard(*self.command, "--threads", threads)

    def pairs(self):
        """Returns their number."""
        return json.loads(self.stem.with_name(f"{self.stem.name}.json").read_text(encoding="utf-8"))["pairs"]

    @property
    def files(self):
        """Returns the paths of source and target."""
        return f"{self.stem}.src", f"{self.stem}.trg"

    def settings(self, index):
        """Returns the overrides that make them corpus `index` of the training data."""
        source, target = self.files
        return f"data.train.{index}.src={source}", f"data.train.{index}.trg={target}"
