"""One cell: a system trained on a task, and scored."""

import json
import pathlib
import subprocess
import sys

from systems import BUNDLED

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGARD = ROOT / "build" / "regard"
LENGTHS = "5,10,15,20,30,40,50"
LONG = ("data/test_long.en", "data/test_long.fr")


class Failure(Exception):
    """Ends in a sentence for the user and an exit code, those of regard."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def regard(*command):
    done = subprocess.run(
        [REGARD, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=sys.stderr, check=False
    )
    if done.returncode != 0:
        text = " ".join(map(str, command))
        raise Failure(done.returncode, f"regard {text} ended with exit code {done.returncode}")
    return done.stdout.decode("utf-8")


class Cell:
    def __init__(self, folder, system, task, extra):
        self.system = system
        self.task = task
        self.run = folder / system.name / task.name
        self.extra = extra

    @property
    def result_file(self):
        return self.run / "result.json"

    def result(self):
        """The figures, or None where the cell is not done."""
        if not self.result_file.is_file():
            return None
        return json.loads(self.result_file.read_text(encoding="utf-8"))

    def fill(self):
        """Trains, from where it was stopped, scores, and keeps the figures."""
        task = self.task
        train, dev = task.data("train"), task.data("dev")
        regard(
            "train",
            "-c",
            "configs/attention_comparison.yaml",
            f"name={self.system.name}",
            f"training.model_dir={self.run}",
            f"training.random_seed={task.seed}",
            f"data.train.0.src={train[0]}",
            f"data.train.0.trg={train[1]}",
            f"data.dev.src={dev[0]}",
            f"data.dev.trg={dev[1]}",
            *task.settings,
            *self.system.settings,
            *self.extra,
        )
        source, target = task.data("test")
        align = ()
        if task is BUNDLED and self.system.has_weights:
            align = ("--alignments-gold", "data/test.align")
        result = {"test": self.score(source, target, *align)}
        if task is BUNDLED:
            result["long"] = self.score(*LONG, "--by-length", LENGTHS)
        result["parameters"] = json.loads(regard("info", self.run, "--json"))["parameters"]
        self.result_file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")

    def score(self, source, target, *options):
        return json.loads(
            regard("evaluate", "-m", self.run, "-s", source, "-r", target, "--json", "--force",
                   *options)
        )
