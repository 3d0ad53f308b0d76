"""What is compared with other toolkits: the two architectures, their data, and the programs that run."""

import dataclasses
import os
import re
import shutil

from programs import timed, train, train_log
from project import REGARD, ROOT, regard

LANGUAGES = {"source": "en", "target": "de"}
BEAM_ALPHA = 1.0  # exponent of the length in the score of a hypothesis
MAX_LENGTH = 60  # pieces of a translation
DECODING_BATCH = 64  # sentences
RATE = 0.003  # highest learning rate of the Transformers
WARMUP = 100  # steps to it; then proportional to 1 / √step


@dataclasses.dataclass(frozen=True)
class Architecture:
    """A model that every toolkit trains. `config` and `overrides` are those of regard."""

    title: str
    config: str
    overrides: tuple
    batch_type: str  # unit of `batch`: sentence or token
    batch: int
    vocabulary: int
    steps: int  # in the measurement of training
    decoding_steps: int  # of regard's model before the measurement of decoding
    peer_decoding_steps: int  # of the models of the others, which train more slowly


ARCHITECTURES = {
    "recurrent": Architecture(
        title="Recurrent",
        config="configs/bench.yaml",
        overrides=(),
        batch_type="sentence",
        batch=80,
        vocabulary=8000,
        steps=60,
        decoding_steps=500,
        peer_decoding_steps=0,
    ),
    "transformer": Architecture(
        title="Transformer",
        config="configs/multi30k_transformer.yaml",
        overrides=(
            f"training.learning_rate={RATE}",
            f"training.warmup_steps={WARMUP}",
            "training.moving_average=0",  # the others have none
        ),
        batch_type="token",
        batch=4000,
        vocabulary=6000,
        steps=40,
        decoding_steps=600,
        peer_decoding_steps=200,
    ),
}


@dataclasses.dataclass
class Trained:
    """A finished training. Each list has one element for each line of the log."""

    peak_bytes: int
    parameters: int
    speeds: list  # target tokens per second, with </s>, without padding
    batches: list  # target tokens of a step, on average


@dataclasses.dataclass
class Translated:
    """A finished translation of `lines` lines, which took `seconds` without loading."""

    peak_bytes: int
    seconds: float
    lines: int
    output: str  # file with a translation on each line, as text


class Case:
    """The input of every program: the same text, sub-words and steps. `save` keeps the trained model."""

    def __init__(self, work, options, name, steps, save=False):
        self.work = work
        self.options = options
        self.name = name
        self.architecture = ARCHITECTURES[name]
        self.set_steps(steps)
        self.save = save
        self.threads = options.threads or len(os.sched_getaffinity(0))
        self.tokenizers = None  # folder with the SentencePiece models of regard
        self.is_encoded = False  # set by encode_corpus()

    def set_steps(self, steps):
        self.every = max(1, steps // 5)  # steps between two lines of a log
        self.steps = 5 * self.every

    def folder(self, name):
        """Returns a folder for the output of a program, which does not exist yet."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def model(self, side):
        """Returns the SentencePiece model of "source" or "target", which may be one."""
        own = self.tokenizers / f"{side}.model"
        return own if own.is_file() else self.tokenizers / "source.model"

    @property
    def shared(self):
        """True if both languages have one vocabulary."""
        return self.model("source") == self.model("target")

    def run(self, name, command, **files):
        """Runs a program that is measured; returns it with the text of its log."""
        threads = str(self.threads)
        log = self.work / f"{name}.log"
        environment = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "KMP_BLOCKTIME": "0"}
        ran = timed(command, log, environment, prefix=self.options.run_with, **files)
        return ran, log.read_text(encoding="utf-8", errors="replace")


def train_regard(case, folder, *overrides):
    """Trains regard into `folder` and makes its sub-words those of the case."""
    architecture = case.architecture
    ran = train(
        architecture.config,
        folder,
        case.options,
        f"training.batch_type={architecture.batch_type}",
        f"training.batch_size={architecture.batch}",
        *architecture.overrides,
        f"training.max_steps={case.steps}",
        f"training.validation_every={case.steps}",
        f"training.logging_every={case.every}",
        *overrides,
        prefix=case.options.run_with,
    )
    case.tokenizers = folder / "last"
    log = train_log(folder)
    speeds = [line["target_tokens_per_second"] for line in log]
    ends = [line["seconds"] for line in log]
    seconds = [end - start for start, end in zip([0, *ends], ends)]
    return Trained(
        ran.peak_bytes,
        int(re.search(r'"parameters": (\d+)', regard("info", folder, "--json"))[1]),
        speeds,
        [speed * s / case.every for speed, s in zip(speeds, seconds)],
    )


def translate_regard(case, model, precision, beam, source, lines):
    """Translates the file `source` of that many lines; its seconds include loading."""
    output = case.work / f"regard.{precision}.{beam}.{lines}"
    command = [REGARD, "translate", "-m", model, "-i", source, "-o", output, "--quiet"]
    command += ["--precision", precision, "--threads", case.options.threads]
    command += ["--beam-size", beam, "--beam-alpha", BEAM_ALPHA, "--length-penalty", "power"]
    command += ["--batch-size", DECODING_BATCH, "--max-output-length", MAX_LENGTH]
    ran, _ = case.run("regard", command)
    return Translated(ran.peak_bytes, ran.seconds, lines, output)


def join_pieces(path):
    """Turns a file in sub-words into text."""
    lines = path.read_text(encoding="utf-8").split("\n")
    text = [line.replace(" ", "").replace("▁", " ").strip() for line in lines]
    path.write_text("\n".join(text), encoding="utf-8")


def encode(python, case, side, text, encoded):
    """Writes the text in sub-words, and the vocabulary of this side."""
    command = [python, ROOT / "scripts" / "bench" / "inside" / "encode.py", case.model(side)]
    command += [text, case.work / f"{side}.pieces", encoded]
    timed(command, case.work / "encode.log")


def encode_corpus(python, case):
    """Writes the vocabularies and the corpus in sub-words, from the SentencePiece models of regard."""
    if case.is_encoded:
        return
    for side, language in LANGUAGES.items():
        encode(python, case, side, f"data/multi30k/train.{language}", case.work / f"{side}.encoded")
    case.is_encoded = True
