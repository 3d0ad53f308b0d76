"""A study fills the tables of a page with cells: one system, trained on one task and scored. Cells are trained one by
one, and a table is filled in several sessions: the figures of finished cells are stored, and stopped ones are
resumed."""

import concurrent.futures
import dataclasses
import json
import pathlib
import shutil
import statistics
import tempfile
import threading
import time

import pages
import project
from figures import Figures, recipe
from project import (
    CHECK_FAILED,
    CORES,
    ROOT,
    Failure,
    machine,
    names_in,
    read,
    regard,
    regard_timed,
    validations,
    warn,
)

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
    after: tuple = ()  # the trainings and synthetic pairs that it starts with
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
    made: str = ""  # how the data were made, if other data can have the same paths

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


def first_pairs(task, study, pairs, **changes):
    """Writes the first pairs of the training data of a task, and returns the task with them and other changes."""
    folder = study.folder / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for path in task.data("train"):
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"first_{pairs}{pathlib.Path(path).suffix}").write_text("".join(lines[:pairs]), encoding="utf-8")
    return dataclasses.replace(task, train=f"{folder}/first_{pairs}", **changes)


def make_features(folder, names, ending, *settings):
    """Writes NAME.safetensors from the list NAME.ENDING for each name, all with the statistics of the first."""
    for name in names:
        output = folder / f"{name}.safetensors"
        if not output.is_file():
            like = settings if name == names[0] else ("--like", folder / f"{names[0]}.safetensors")
            regard("features", "-i", folder / f"{name}.{ending}", "-o", output, "--threads", CORES, *like)


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


class Study:
    """The options of a study, its page docs/PAGE.md and its figures docs/PAGE/figures.json. A trial has a folder of its
    own, with copies of both. The folder of the runs is relative to ROOT."""

    def __init__(self, options, page):
        self.options = options
        self.trial = tuple(options.trial)  # settings of every training
        self.folder = pathlib.Path(options.runs, "trial" if options.trial else "")
        docs = ROOT / "docs"
        if options.trial:
            docs = self.folder / "docs"
            docs.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "docs" / f"{page}.md", docs / f"{page}.md")
        self.page = docs / f"{page}.md"
        self.pictures = docs / page
        self.figures = Figures(self.pictures / "figures.json")

    def selected(self, cells):
        """Returns the cells that --only and --tasks name."""
        systems = names_in(self.options.only, list(dict.fromkeys(cell.keys[0] for cell in cells)), "system")
        tasks = names_in(self.options.tasks, list(dict.fromkeys(cell.keys[-1] for cell in cells)), "task")
        return [cell for cell in cells if cell.keys[0] in systems and cell.keys[-1] in tasks]

    def missing(self, cells):
        """Returns the cells that are to be trained: those without figures; none with --table."""
        return [] if self.options.table else [cell for cell in cells if not cell.result()]

    def fill(self, cells):
        """Trains the missing cells, `options.jobs` at a time."""
        start = time.monotonic()
        threads = max(1, CORES // self.options.jobs)

        def fill_one(cell):
            if not self.options.minutes or time.monotonic() - start < 60 * self.options.minutes:
                cell.prepare(threads)

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            try:
                list(pool.map(fill_one, self.missing(cells)))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def write(self, parts, cells=()):
        """Writes the parts of the page. A part that is None stays as it is. With --table, fails if figures would go
        because their recipe is not that of their cell any more."""
        old = ["/".join(cell.keys) for cell in cells if not cell.result() and self.figures.get(*cell.keys)]
        if old and self.options.table:
            raise Failure(
                CHECK_FAILED,
                f"{self.page}: the figures of {', '.join(old)} are of another recipe; train them again, or, if a key of the "
                "configuration was only renamed, compute their recipes anew",
            )
        pages.put(self.page, {name: part for name, part in parts.items() if part is not None})
        done = sum(cell.result() is not None for cell in cells)
        warn(f"written: {self.page}" + (f", {done} of {len(cells)} cells" if cells else ""))


class Training:
    """A training of a study. `keys` name its stored figures and its folder. `after` are the trainings and synthetic
    pairs that it starts with."""

    def __init__(self, study, keys, config, settings, options=(), after=(), made=""):
        self.study = study
        self.keys = keys
        self.config = config
        self.settings = (*settings, *study.trial)  # key=value
        self.options = options  # of regard train
        self.after = after
        self.made = made  # how the data were made
        self.lock = threading.Lock()
        self.run = study.folder.joinpath(*keys)
        self.mark = self.run.with_name(f"{self.run.name}.recipe")
        self.times = self.run.with_name(f"{self.run.name}.seconds")  # of the processors, a line for each session

    @property
    def recipe(self):
        """Returns a hash that identifies the recipe of stored figures, wherever the runs are."""
        words = (*self.settings, *self.options, self.made, *(part.recipe for part in self.after))
        return recipe(self.config, [word.replace(f"{self.study.folder}/", "") for word in words if word])

    @property
    def command(self):
        """Returns the arguments of regard that train the model."""
        return ("train", "-c", self.config, *self.options, f"training.model_dir={self.run}", *self.settings)

    def result(self):
        """Returns the figures, or None if they are not measured."""
        return self.study.figures.of(self.recipe, *self.keys)

    def is_of_another_recipe(self):
        """True if the run was begun with another recipe. The file beside it tells; runs without one are older."""
        return self.mark.exists() and self.mark.read_text(encoding="utf-8") != self.recipe

    def has_model(self):
        """True if the trained model of this recipe is on this machine."""
        return (self.run / "best").exists() and not self.is_of_another_recipe()

    def train(self, threads=CORES):
        """Trains (or resumes) the model, after what it starts with. A run of another recipe is removed."""
        for part in self.after:
            part.prepare(threads)
        if self.is_of_another_recipe():
            shutil.rmtree(self.run, ignore_errors=True)
            self.times.unlink(missing_ok=True)
        self.mark.parent.mkdir(parents=True, exist_ok=True)
        self.mark.write_text(self.recipe, encoding="utf-8")
        code, seconds = regard_timed(*self.command, f"threads={threads}")
        with self.times.open("a", encoding="utf-8") as file:
            print(seconds, file=file)
        if code != 0:
            raise Failure(code, f"the training {self.run} ended with exit code {code}")

    def measure(self, *options):
        """Returns the figures. `options` are those for threads."""
        return {}

    def prepare(self, threads):
        """Trains and measures the model if it is not on this machine."""
        with self.lock:
            if not (self.result() and self.has_model()):
                warn(f"{self.run}")
                self.fill(threads)

    def fill(self, threads=CORES):
        """Trains (or resumes) the model, and stores its figures."""
        self.train(threads)
        figures = {"recipe": self.recipe, "machine": machine(), **self.measure("--threads", str(threads))}
        self.study.figures.put(figures, *self.keys)


def scores(cell, *options):
    """The scores of the test set, and some of the validation pair."""
    test = cell.score(*cell.task.data("test"), *options)
    dev = cell.score(*cell.task.data("dev"), *options)
    return {
        "bleu": test["bleu"]["score"],
        "chrf": test["chrf"]["score"],
        "perplexity": test["perplexity"],
        "dev": {"bleu": dev["bleu"]["score"], "perplexity": dev["perplexity"]},
    }


def effort(training, *_):
    """The steps of a training, its threads, and its minutes: the processor time of all sessions ÷ threads, which other
    programs on the machine do not lengthen."""
    last = validations(training.run)[-1]
    threads = json.loads(read(training.run / "manifest.json"))["threads"]
    seconds = sum(map(float, read(training.times).split()))
    return {"steps": int(last["step"]), "minutes": round(seconds / 60 / threads, 1), "threads": threads}


class Cell(Training):
    """A system trained on a task. `measures` are functions of the cell and of the options for threads that return
    figures."""

    def __init__(self, study, system, task, measures=(scores,)):
        train, dev = task.data("train"), task.data("dev")
        settings = (
            f"name={system.name}",
            f"training.random_seed={task.seed}",
            f"data.train.0.src={train[0]}",
            f"data.train.0.trg={train[1]}",
            f"data.dev.src={dev[0]}",
            f"data.dev.trg={dev[1]}",
            *task.settings,
            *system.settings_for(task),
        )
        keys = (system.name, task.name)
        super().__init__(study, keys, system.config, settings, system.options, system.after, task.made)
        self.system = system
        self.task = task
        self.measures = measures
        self.models = (self.run,)

    def measure(self, *options):
        parameters = (json.loads(regard("info", model, "--json"))["parameters"] for model in self.models)
        figures = {"parameters": sum(parameters)}
        for measure in self.measures:
            figures.update(measure(self, *options))
        return figures

    def score(self, source, target, *options, tags=None):
        """Returns the JSON object of `regard evaluate` for the run. `tags` replaces those of the system."""
        return json.loads(
            regard("evaluate", "-m", *self.models, "-s", source, "-r", target, "--json", "--force",
                   *options, *(self.system.tags if tags is None else tags))
        )  # fmt: skip

    def compare(self, source, target, *options):
        """Returns the scores, and the pairs of reference and output that differ."""
        output = self.run / "output"
        found = self.score(source, target, *options, "-o", output)
        pairs = zip(read(target).splitlines(), read(output).splitlines())
        return found, [pair for pair in pairs if pair[0] != pair[1]]

    def draw(self, number, name):
        """Draws the attention over an item of the test features, from 1, as NAME.svg among the pictures of the page."""
        self.study.pictures.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            item = pathlib.Path(folder) / "item"
            item.write_text(f"{self.task.data('test')[0]}:{number}\n", encoding="utf-8")
            regard("translate", "-m", self.run, "-i", item, "-o", item.with_name("output"),
                   "--picture", self.study.pictures / f"{name}.svg", "--attention-scale", "row")  # fmt: skip

    def by_length(self, source, target, edges, *options):
        """Returns BLEU by the number of source words: a list of shortest, longest and bleu."""
        bins = self.score(source, target, *options, "--by-length", edges)["by_length"]
        keys = ("shortest", "longest", "bleu", "sentences")
        return [{k: b[k] for k in keys} for b in bins if b["sentences"] > 0]


class Ensemble(Cell):
    """Cells of one system and task with several seeds, which translate together. It trains those that are not on this
    machine."""

    def __init__(self, name, task, cells, measures):
        first = cells[0]
        system = dataclasses.replace(first.system, name=name, after=tuple(cells))
        super().__init__(first.study, system, task, measures)
        self.models = tuple(cell.run for cell in cells)

    def train(self, threads=CORES):
        for cell in self.after:
            cell.prepare(threads)

    def has_model(self):
        return all(cell.has_model() for cell in self.after)


def tokens_per_second(cell, steps=80, warm_up=20):
    """Returns the target tokens per second of a short training, on an otherwise idle machine."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        regard(
            *cell.command, f"training.model_dir={run}", f"training.max_steps={steps}", "training.logging_every=10",
            f"training.validation_every={10 * steps}",
        )  # fmt: skip
        logged = [json.loads(line) for line in read(run / "train.jsonl").splitlines()]
    return statistics.median(line["target_tokens_per_second"] for line in logged if line["step"] > warm_up)


def measure_speed(cells, rounds=3):
    """Stores the target tokens per second of each cell, the median of several rounds in turn: A B C A B C …"""
    speeds = [[] for _ in cells]
    for number in range(rounds):
        for cell, values in zip(cells, speeds):
            values.append(tokens_per_second(cell))
            warn(f"round {number + 1}, {cell.system.name}: {values[-1]:,.0f} tokens/s")
    for cell, values in zip(cells, speeds):
        figures = {"machine": machine(), "tokens_per_second": statistics.median(values)}
        cell.study.figures.put(figures, cell.system.name, "speed")


def short_parser_of(name, description, runs=None):
    """Returns a parser with the options that every Study has. `runs` is the default folder of the runs."""
    parser = project.parser_of(f"scripts/study.sh {name}", description)
    parser.add_argument("--runs", default=runs or f"runs/{name}", help="folder of the runs (default: %(default)s)")
    parser.add_argument("--trial", nargs="+", default=(), metavar="key=value",
                        help="change every training; keep runs, page and figures in the folder RUNS/trial")  # fmt: skip
    return parser


def parser_of(name, description, runs=None):
    """Returns a parser with the options of Study.fill() too."""
    parser = short_parser_of(name, description, runs)
    parser.add_argument("--only", default="", help="systems, separated by commas")
    parser.add_argument("--tasks", default="", help="tasks, separated by commas")
    parser.add_argument("--jobs", type=int, choices=range(1, 65), metavar="N", default=1,
                        help="number of cells trained at once (default 1), which share the cores")  # fmt: skip
    parser.add_argument("--minutes", type=float, help="start no further cell after N minutes")
    parser.add_argument("--table", action="store_true", help="train nothing; write the page from the stored figures")
    return parser


def machines(results):
    """Returns the machines of the figures, without repetition."""
    return "; ".join(sorted({result["machine"] for result in results if result}))


def results_table(head, rows, results, remark=""):
    """Returns a table of figures with their machines and, if it is stored with all, their origin, or None if there are no
    figures."""
    done = [result for result in results if result]
    if not done:
        return None
    text = f"{pages.table(head, rows)}\n{remark}Trained: {machines(done)}.\n"
    if not all("date" in result for result in done):
        return text
    origins = pages.in_order({(result["date"], result["commit"]) for result in done})
    return f"{text}\n{pages.origin_line(origins[0], origins[-1])}"
