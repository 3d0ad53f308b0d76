"""Pairs that a trained model makes from a text, by `regard synthesize`."""

import json

from project import ROOT, regard


class Synthetic:
    """`stem` is the path of the pairs without .src and .trg, `models` are runs, an ensemble if there are several,
    `recipe` a hash that changes with the models and the options. `options` are those of regard synthesize."""

    def __init__(self, stem, models, text, options, recipe):
        self.stem = stem
        self.models = models
        self.text = text
        self.options = options
        self.recipe = recipe

    @property
    def command(self):
        """Returns the arguments of regard that make the pairs."""
        return ("synthesize", "-m", *self.models, "-i", self.text, "-o", self.stem, *self.options)

    def make(self, *options):
        """Makes the pairs, goes on with them, or does nothing if they are complete."""
        (ROOT / self.stem).parent.mkdir(parents=True, exist_ok=True)
        regard(*self.command, *options)

    def pairs(self):
        """Returns their number."""
        return json.loads((ROOT / f"{self.stem}.json").read_text(encoding="utf-8"))["pairs"]

    @property
    def files(self):
        """Returns the paths of source and target."""
        return f"{self.stem}.src", f"{self.stem}.trg"

    def settings(self, index):
        """Returns the overrides that make them corpus `index` of the training data."""
        source, target = self.files
        return f"data.train.{index}.src={source}", f"data.train.{index}.trg={target}"
