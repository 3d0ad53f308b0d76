"""Measures a training step of the recipes and their search on the first GPU, beside the processors of the same machine."""

from pages import table
from programs import timed, train, train_log, work_folder
from project import ENVIRONMENT_ERROR, REGARD, ROOT, Failure, need_multi30k, warn
from report import build, median, output_of

RESET_AFTER = ("model.encoder.reset_gate=after", "model.decoder.reset_gate=after")
WIDE = (*(
    f"model.{side}.{key}"
    for side in ("encoder", "decoder")
    for key in ("embedding_dim=1024", "hidden_size=1024", "feed_forward_size=4096", "heads=16")
), "training.batch_size=16000")  # fmt: skip
RECIPES = {  # title to the configuration, its changes, and training steps on a GPU without and with graphs
    "`multi30k.yaml`": ("multi30k", (), 100, 1000),
    "the same, `reset_gate: after`": ("multi30k", RESET_AFTER, 100, 1000),
    "`multi30k_best.yaml`": ("multi30k_best", (), 100, 1000),
    "`multi30k_transformer_best.yaml`": ("multi30k_transformer_best", (), 100, 1000),
    # So much arithmetic for each operation that its steps are not captured.
    "the same, width 1,024, batches of 16,000 tokens": ("multi30k_transformer_best", WIDE, 30, 0),
}
DEVICES = {  # column to device, precision and graphs
    "processors (auto)": ("cpu", "auto", "auto"),
    "fp32, no graphs": ("cuda:0", "fp32", "off"),
    "tf32, no graphs": ("cuda:0", "tf32", "off"),
    "tf32 (auto)": ("cuda:0", "auto", "auto"),
    "bf16": ("cuda:0", "bf16", "auto"),
}
TRANSLATED = ("`multi30k.yaml`", "`multi30k_transformer_best.yaml`")
SEARCHES = {  # column to device, precision and sentences in a batch
    "processors (auto)": ("cpu", "auto", 64),
    "fp32": ("cuda:0", "fp32", 256),
    "tf32 (auto)": ("cuda:0", "auto", 256),
    "bf16": ("cuda:0", "bf16", 256),
}
COPIES = 5  # of the 1,000 lines, in the longer of two translations
OUTPUT = 15  # tokens of each translation, whatever the model says
NO_VALIDATION = ("data.dev.src=", "data.dev.trg=", "training.early_stopping_metric=loss")


class Gpu:
    """Records the use of the first GPU while a program runs. Passed to timed() as `watch`."""

    def __init__(self):
        self.before = self.memory()
        self.peak = 0

    @staticmethod
    def memory():
        """Returns the megabytes in use."""
        found = output_of(
            "nvidia-smi", "--id=0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"
        )
        return int(found or 0)

    def __call__(self, _seconds):
        self.peak = max(self.peak, self.memory() - self.before)


def name_of_gpu():
    found = output_of("nvidia-smi", "--id=0", "--query-gpu=name,driver_version", "--format=csv,noheader")
    if not found:
        raise Failure(ENVIRONMENT_ERROR, "nvidia-smi found no GPU; the verb gpu needs one")
    return found.replace(", ", ", driver ")


def measure(recipe, column, work, options):
    """Returns the figures of a short training: milliseconds a step and target tokens per second (medians over the
    lines of its log without the first), and the peak memory of the GPU."""
    config, changes, steps, graph_steps = RECIPES[recipe]
    device, precision, graphs = DEVICES[column]
    if graphs == "auto" and device != "cpu":
        steps = graph_steps or steps
    steps = 10 if options.quick else steps // 5 if device == "cpu" else steps
    every = steps // 5
    watch = None if device == "cpu" else Gpu()
    train(
        f"configs/{config}.yaml", work / "run", options, *changes, *NO_VALIDATION, f"device={device}",
        f"training.precision={precision}", f"training.graphs={graphs}", f"training.max_steps={steps}",
        f"training.logging_every={every}", watch=watch,
    )  # fmt: skip
    log = train_log(work / "run")
    ends = [line["seconds"] for line in log]
    found = {
        "milliseconds": median([1000 * (end - start) / every for start, end in zip(ends, ends[1:])]),
        "target_tokens_per_second": median([line["target_tokens_per_second"] for line in log[1:]]),
        "megabytes": watch.peak if watch else 0,
    }
    warn(f"{recipe}, {column}: {found}")
    return found


def measure_or_skip(recipe, column, work, options):
    """Returns the figures, or None if the training fails, as for want of memory."""
    try:
        return measure(recipe, column, work, options)
    except Failure as failure:
        warn(f"{recipe}, {column}: {failure}")
        return None


def tokens_per_second(column, work, options):
    """Returns the target tokens per second with a beam of 5, by the difference of two texts, which leaves out the start."""
    device, precision, sentences = SEARCHES[column]
    lines = (ROOT / "data/multi30k/test_2016_flickr.en").read_text(encoding="utf-8").splitlines()
    seconds = {}
    for copies in (1, COPIES):
        (work / "lines").write_text("".join(f"{line}\n" for line in lines * copies), encoding="utf-8")
        command = (
            REGARD, "translate", "-m", work / "run", "-i", work / "lines", "--device", device, "--precision", precision,
            "--threads", options.threads, "--beam-size", 5, "--batch-size", sentences, "--max-output-ratio", 0,
            "--max-output-length", OUTPUT + 1, "--min-output-length", OUTPUT,
        )  # fmt: skip
        runs = [timed(command, work / "log").seconds for _ in range(1 if options.quick else 3)]
        seconds[copies] = median(runs)
    return len(lines) * (COPIES - 1) * OUTPUT / (seconds[COPIES] - seconds[1])


def searches_of(recipe, columns, work, options):
    """Returns the tokens per second of each column, with weights from one step of training."""
    config, changes, _, _ = RECIPES[recipe]
    train(f"configs/{config}.yaml", work / "run", options, *changes, *NO_VALIDATION, "training.max_steps=1")
    found = {}
    for column in columns:
        try:
            found[column] = {"target_tokens_per_second": tokens_per_second(column, work, options)}
        except Failure as failure:
            warn(f"{recipe}, {column}: {failure}")
            found[column] = None
    return found


def rows_of(found, figure, text):
    return [[recipe, *(text.format(f[figure]) if f else "–" for f in row.values())] for recipe, row in found.items()]


def run(report, options):
    need_multi30k("train.en", "train.de")
    build("regard")
    report.say(f"{name_of_gpu()}.")
    with work_folder() as work:
        found = {}
        for recipe in RECIPES:
            found[recipe] = {column: measure_or_skip(recipe, column, work, options) for column in DEVICES}
        searches = {recipe: searches_of(recipe, SEARCHES, work, options) for recipe in TRANSLATED}
    report.say("Milliseconds of a training step, the median without the first fifth of the steps:")
    report.say(table(["recipe", *DEVICES], rows_of(found, "milliseconds", "{:.1f}")))
    report.say("Target tokens per second:")
    report.say(table(["recipe", *DEVICES], rows_of(found, "target_tokens_per_second", "{:,.0f}")))
    report.say("Megabytes of the GPU, with those of CUDA itself:")
    report.say(table(["recipe", *DEVICES], rows_of(found, "megabytes", "{:,}")))
    report.say(
        f"Target tokens per second of a search with a beam of 5, 64 sentences in a batch on the processors and 256 on the GPU, "
        f"{OUTPUT} tokens for each sentence:"
    )
    report.say(table(["recipe", *SEARCHES], rows_of(searches, "target_tokens_per_second", "{:,.0f}")))
    report.figures["steps"] = found
    report.figures["searches"] = searches
