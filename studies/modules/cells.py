"""A cell of a table: one system, trained on one task and scored. Cells are trained one by one, and a table is filled
in several sessions: the figures of finished cells are stored, and stopped ones are resumed."""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import shutil
import statistics
import tempfile
import time

from figures import recipe
from project import CORES, ROOT, machine, regard, warn

CONFIG = "configs/attention_comparison.yaml"


# Overrides of CONFIG.
def of_side(side, *settings):
    """Returns overrides of the encoder or of the decoder."""
    return tuple(f"model.{side}.{setting}" for setting in settings)


def of_both_sides(*settings):
    return of_side("encoder", *settings) + of_side("decoder", *settings)


ADDITIVE = ("model.attention.kind=additive", "model.attention.size=256")
SELF_ATTENTION = ("kind=transformer", "hidden_size=128", "layers=3", "heads=4", "feed_forward_size=512")
# Options that only a recurrent decoder reads are set to their defaults.
TRANSFORMER = (*of_both_sides(*SELF_ATTENTION), "model.decoder.readout_size=512")


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    settings: tuple  # key=value overrides of the configuration; {half} is half of the steps
    remark: str = ""
    variant_of: str = ""  # the system from which it differs in one option
    config: str = CONFIG
    options: tuple = ()  # more options of `regard train`
    after: str = ""  # recipe of the model from which it starts
    tags: tuple = ()  # the options of `regard evaluate` for the tags of the direction

    def settings_for(self, task):
        return tuple(setting.format(half=task.steps // 2) for setting in self.settings)

    @property
    def has_weights(self):
        return "model.attention.kind=none" not in self.settings


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    source: str
    target: str
    train: str  # path without the language, as the next two
    dev: str
    test: str
    seed: int = 42
    steps: int = 3000  # as in CONFIG
    settings: tuple = ()

    def data(self, key):
        """Returns the paths of source and target for "train", "dev" or "test"."""
        stem = getattr(self, key)
        return f"{stem}.{self.source}", f"{stem}.{self.target}"


def multi30k(source, target, seed):
    stem = "data/multi30k/"
    return Task(
        f"{source}-{target}-{seed}",
        source,
        target,
        stem + "train",
        stem + "val",
        stem + "test_2016_flickr",
        seed,
    )


def write_first_pairs(task, folder, pairs):
    """Writes the first pairs of the training data of a task, and returns their path without the language."""
    stem = folder / f"first_{pairs}"
    folder.mkdir(parents=True, exist_ok=True)
    for path, language in zip(task.data("train"), (task.source, task.target)):
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True)
        stem.with_name(f"{stem.name}.{language}").write_text("".join(lines[:pairs]), encoding="utf-8")
    return stem


# The bundled corpus, whose generator knows the true alignments. No checkpoint is chosen by its validation.
BUNDLED = Task(
    "bundled",
    "en",
    "fr",
    "data/train",
    "data/dev",
    "data/test",
    steps=1500,
    settings=(
        "data.tokenizer.vocabulary_size=2000",
        "data.tokenizer.joint=false",
        "model.tied_embeddings=output",
        "training.max_steps=1500",
        "training.validation_every=1500",
        "training.warmup_steps=150",
        "training.label_smoothing=0",
    ),
)


class Cell:
    # `folder` has the runs of all cells; `figures` is the store of results. `measures` are functions of the cell and
    # the options for threads that return more figures of the trained system.
    def __init__(self, folder, figures, system, task, measures=(), extra=()):
        self.system = system
        self.task = task
        self.run = folder / system.name / task.name
        self.mark = self.run.with_name(f"{task.name}.recipe")
        self.figures = figures
        self.measures = measures
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
        return recipe(self.system.config, (*self.settings, *self.system.options, *filter(None, (self.system.after,))))

    def result(self):
        """Returns the figures, or None if the cell is not done."""
        return self.figures.of(self.recipe, self.system.name, self.task.name)

    def is_of_another_recipe(self):
        """True if the run was begun with another recipe. The file beside it tells; runs without one are older."""
        return self.mark.exists() and self.mark.read_text(encoding="utf-8") != self.recipe

    def has_model(self):
        """True if the trained model of this recipe is on this machine."""
        return (self.run / "best").exists() and not self.is_of_another_recipe()

    def train(self, threads):
        """Trains (or resumes) the system. A run of another recipe is removed."""
        if self.is_of_another_recipe():
            shutil.rmtree(self.run, ignore_errors=True)
        self.mark.parent.mkdir(parents=True, exist_ok=True)
        self.mark.write_text(self.recipe, encoding="utf-8")
        regard(
            "train", "-c", self.system.config, *self.system.options, f"name={self.system.name}",
            f"training.model_dir={self.run}", f"threads={threads}", *self.settings,
        )  # fmt: skip

    def fill(self, threads):
        """Trains (or resumes) the system, scores it, and stores the figures."""
        self.train(threads)
        threaded = ("--threads", str(threads))
        test = self.score(*self.task.data("test"), *threaded)
        dev = self.score(*self.task.data("dev"), *threaded)
        result = {
            "recipe": self.recipe,
            "machine": machine(),
            "bleu": test["bleu"]["score"],
            "chrf": test["chrf"]["score"],
            "perplexity": test["perplexity"],
            "dev": {"bleu": dev["bleu"]["score"], "perplexity": dev["perplexity"]},
            "parameters": json.loads(regard("info", self.run, "--json"))["parameters"],
        }
        for measure in self.measures:
            result.update(measure(self, *threaded))
        self.figures.put(result, self.system.name, self.task.name)

    def score(self, source, target, *options, tags=None):
        """Returns the JSON object of `regard evaluate` for the run. `tags` replaces those of the system."""
        return json.loads(
            regard("evaluate", "-m", self.run, "-s", source, "-r", target, "--json", "--force",
                   *options, *(self.system.tags if tags is None else tags))
        )  # fmt: skip

    def by_length(self, source, target, edges, *options):
        """Returns BLEU by the number of source words: a list of shortest, longest and bleu."""
        bins = self.score(source, target, *options, "--by-length", edges)["by_length"]
        keys = ("shortest", "longest", "bleu", "sentences")
        return [{k: b[k] for k in keys} for b in bins if b["sentences"] > 0]


def tokens_per_second(system, task, settings=(), steps=80, warm_up=20):
    """Returns the target tokens per second of a short training, on an otherwise idle machine."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        regard(
            "train", "-c", system.config, *system.options, f"training.model_dir={run}",
            *task.settings, *system.settings_for(task), *settings,
            f"training.max_steps={steps}", "training.logging_every=10", f"training.validation_every={10 * steps}",
        )  # fmt: skip
        lines = (run / "train.jsonl").read_text(encoding="utf-8").splitlines()
    logged = [json.loads(line) for line in lines]
    return statistics.median(line["target_tokens_per_second"] for line in logged if line["step"] > warm_up)


def measure_speed(systems, task, settings, figures, rounds=3):
    """Stores the target tokens per second of each system, the median of several rounds in turn: A B C A B C …"""
    speeds = {system.name: [] for system in systems}
    for number in range(rounds):
        for system in systems:
            speeds[system.name].append(tokens_per_second(system, task, settings))
            warn(f"round {number + 1}, {system.name}: {speeds[system.name][-1]:,.0f} tokens/s")
    for name, values in speeds.items():
        figures.put({"machine": machine(), "tokens_per_second": statistics.median(values)}, name, "speed")


def parser_of(name, description, runs):
    """Returns a parser with the options of fill(). `runs` is the default folder of the runs."""
    parser = argparse.ArgumentParser(
        prog=f"scripts/study.sh {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", default=runs, help="folder of the runs of the cells")
    parser.add_argument("--only", default="", help="systems, separated by commas")
    parser.add_argument("--tasks", default="", help="tasks, separated by commas")
    parser.add_argument("--jobs", type=int, choices=range(1, 65), metavar="N", default=1,
                        help="number of cells trained at once (default 1), which share the cores")  # fmt: skip
    parser.add_argument("--minutes", type=float, help="start no further cell after N minutes")
    parser.add_argument("--table", action="store_true", help="train nothing; write the page from the stored figures")
    return parser


def fill(cells, options):
    """Trains the cells that are not done, `options.jobs` at a time."""
    start = time.monotonic()
    threads = max(1, CORES // options.jobs)

    def fill_one(cell):
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            return
        warn(f"{cell.run}")
        cell.fill(threads)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for _ in pool.map(fill_one, [cell for cell in cells if not cell.result()]):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def machines(results):
    """Returns the machines of the figures, without repetition."""
    return "; ".join(sorted({result["machine"] for result in results if result}))
