"""A cell of the table: one system, trained on one task and scored."""

import json
import pathlib
import statistics
import tempfile

from figures import recipe
from project import ROOT, regard
from systems import BUNDLED

CONFIG = "configs/attention_comparison.yaml"
LENGTHS = "5,10,15,20,30,40,50"
LONG = ("data/test_long.en", "data/test_long.fr")


class Cell:
    # `folder` has the runs of all cells; `figures` is the store of results.
    def __init__(self, folder, figures, system, task, extra=()):
        self.system = system
        self.task = task
        self.run = folder / system.name / task.name
        self.figures = figures
        self.extra = extra  # key=value

    @property
    def settings(self):
        """Returns the overrides of the configuration, key=value."""
        task = self.task
        train, dev = task.data("train"), task.data("dev")
        return (
            f"training.random_seed={task.seed}",
            f"data.train.0.src={train[0]}",
            f"data.train.0.trg={train[1]}",
            f"data.dev.src={dev[0]}",
            f"data.dev.trg={dev[1]}",
            *task.settings,
            *self.system.settings_for(task),
            *self.extra,
        )

    @property
    def recipe(self):
        """Returns a hash that identifies the recipe of stored figures."""
        return recipe(CONFIG, self.settings)

    def result(self):
        """Returns the figures, or None if the cell is not done."""
        return self.figures.of(self.recipe, self.system.name, self.task.name)

    def fill(self, threads, machine):
        """Trains (or resumes) the system, scores it, and stores the figures."""
        regard(
            "train", "-c", CONFIG, f"name={self.system.name}", f"training.model_dir={self.run}",
            f"threads={threads}", *self.settings,
        )  # fmt: skip
        threaded = ("--threads", str(threads))
        align = ()
        if self.task is BUNDLED and self.system.has_weights:
            align = ("--alignments-gold", "data/test.align")
        test = self.score(*self.task.data("test"), *threaded, *align)
        result = {
            "recipe": self.recipe,
            "machine": machine,
            "bleu": test["bleu"]["score"],
            "chrf": test["chrf"]["score"],
            "perplexity": test["perplexity"],
            "parameters": json.loads(regard("info", self.run, "--json"))["parameters"],
        }
        if align:
            result["alignment_error_rate"] = test["alignment"]["error_rate"]
        if self.task is BUNDLED:
            bins = self.score(*LONG, *threaded, "--by-length", LENGTHS)["by_length"]
            keys = ("shortest", "longest", "bleu")
            result["by_length"] = [{k: b[k] for k in keys} for b in bins if b["sentences"] > 0]
        if self.system.has_weights:
            result["largest_weight"] = self.largest_weight(*threaded)
        self.figures.put(result, self.system.name, self.task.name)

    def largest_weight(self, *options):
        """Returns the sharpness of the attention: the largest weight, averaged over all words of the greedy
        translations. With several heads, the weights are first averaged over the heads."""
        source, _ = self.task.data("test")
        with tempfile.TemporaryDirectory() as work:
            weights = pathlib.Path(work) / "weights"
            regard("translate", "-m", self.run, "-i", source, "-o", pathlib.Path(work) / "text",
                   "--beam-size", "1", "--attention-weights", weights, "--quiet", *options)  # fmt: skip
            lines = weights.read_text(encoding="utf-8").splitlines()
        return statistics.mean(max(row) for line in lines for row in json.loads(line)["weights"])

    def score(self, source, target, *options):
        """Returns the JSON object of `regard evaluate` for the run."""
        return json.loads(
            regard("evaluate", "-m", self.run, "-s", source, "-r", target, "--json", "--force",
                   *options)
        )  # fmt: skip
