"""The environment of the accidents: toy corpora, small runs, unusual calls of regard, and the checks of every
call."""

import dataclasses
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

from kills import outcome
from project import CHECK_FAILED, REGARD, Failure, need_regard

OK = 0
USAGE = 2
INPUT = 3
CHECKPOINT = 5
ENVIRONMENT = 6
STOPPED = 128 + signal.SIGTERM

# Each word of the toy language has one translation; the order of words is kept.
WORDS = "the:le cat:chat dog:chien bird:oiseau sees:voit hears:entend a:un small:petit old:vieux and:et"
DICTIONARY = [tuple(pair.split(":")) for pair in WORDS.split()]

CONFIGURATION = """
name: toy
device: cpu
threads: 1
data:
  train: [{{src: {0}/train.en, trg: {0}/train.fr}}]
  dev: {{src: {0}/dev.en, trg: {0}/dev.fr}}
  tokenizer: {{kind: word}}
model:
  encoder: {{embedding_dim: 16, hidden_size: 16}}
  decoder: {{embedding_dim: 16, hidden_size: 16, readout_size: 16}}
  attention: {{kind: additive, size: 16}}
training:
  max_steps: 60
  batch_type: sentence
  batch_size: 32
  learning_rate: 0.01
  validation_every: 30
  logging_every: 10
search: {{beam_size: 3, max_output_length: 20}}
"""
AS_TRANSFORMER = [
    "model.attention.size=512",
    "model.decoder.readout_size=512",
    *(
        f"model.{side}.{option}"
        for side in ("encoder", "decoder")
        for option in ("kind=transformer", "heads=2", "feed_forward_size=32")
    ),
]
# Strings that no message to a user may contain.
CRASHES = ("terminate called", "bug in regard", "Exception raised from", "frame #", "core dumped")
CRASH_SIGNALS = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


class Wrong(Exception):
    """Raised if regard does not do what the accident expects of it. The message is for the report."""


@dataclasses.dataclass
class Row:
    """One row of the table on the page: the accident, its exit codes, what holds afterwards."""

    accident: str
    codes: str
    result: str


@dataclasses.dataclass
class Done:
    """The result of a finished call."""

    code: int
    out: bytes
    err: str
    seconds: float


def expect(condition, fault):
    """Raises Wrong with the message `fault` unless the condition is true."""
    if not condition:
        raise Wrong(fault)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def snapshot(folder):
    """Maps every path below a folder to its content: the target of a link, the hash of a file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = digest(path) if path.is_file() else "folder"
    return found


def differences(before, after):
    """Returns the names that are new, missing or changed."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def expect_untouched(before, folder, what):
    changed = differences(before, snapshot(folder))
    expect(not changed, f"{what}: changed or new: {', '.join(changed[:5])}")


def leftovers(folder):
    """Returns temporary files and folders that should have been renamed or removed."""
    return [path.name for path in folder.rglob("*") if ".part" in path.name or path.suffix == ".tmp"]


def expect_same_run(run, other, what):
    """Raises Wrong unless two run folders are equal in everything that kills.outcome() returns."""
    one, two = outcome(run), outcome(other)
    wrong = [name for name in one if one[name] != two[name]]
    expect(not wrong, f"{what}: not equal to the byte: {', '.join(wrong)}")


def wait_until(found, seconds, what):
    """Waits until found() is true; raises Wrong after these seconds."""
    end = time.monotonic() + seconds
    while not found():
        expect(time.monotonic() < end, f"{what}: not within {seconds} seconds")
        time.sleep(0.005)


def corpus(lines, seed, longest=7):
    """Returns the texts of a random corpus in the toy language and its translation; lines have 2 to `longest`
    words."""
    words = random.Random(seed)
    sides = [], []
    for _ in range(lines):
        pairs = [words.choice(DICTIONARY) for _ in range(words.randint(2, longest))]
        for side, text in zip(sides, zip(*pairs)):
            side.append(" ".join(text))
    return ["\n".join(side) + "\n" for side in sides]


class Workplace:
    """Gives each accident its own folder, and a model that all share."""

    def __init__(self, folder):
        """Writes the corpora into the folder and trains the run toy/, for all accidents."""
        need_regard()
        folder.chmod(0o755)  # processes of another user work here too
        self.root = folder
        self.folder = folder  # of the current accident
        for name, lines, seed in (("train", 200, 1), ("dev", 20, 2), ("test", 40, 3)):
            for side, text in zip(("en", "fr"), corpus(lines, seed)):
                (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
        self.config = folder / "toy.yaml"
        self.config.write_text(CONFIGURATION.format(folder), encoding="utf-8")
        self.run_folder = folder / "toy"
        self.train("toy", "training.keep_newest=2")

    def begin(self, name):
        """Creates the folder of an accident."""
        self.folder = self.root / name
        self.folder.mkdir()

    def text(self, name):
        return self.root / name

    # Calls.

    def start(self, *arguments, prefix=(), closed=(), **options):
        """Starts regard with these arguments. `prefix` is a command that runs it, such as prlimit. The file
        descriptors in `closed` are closed."""
        close = " ".join(f"{number}{'<' if number == 0 else '>'}&-" for number in closed)
        command = [*prefix, "sh", "-c", f'exec "$0" "$@" {close}', REGARD, *arguments]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen(list(map(str, command)), cwd=self.folder, **options)

    def finish(self, process, seconds=60, text=None):
        """Waits for a started call and returns its result. Raises Wrong if it crashes or takes longer than
        `seconds`. `text` is its standard input."""
        begun = time.monotonic()
        try:
            out, err = process.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong(f"still running after {seconds} seconds") from None
        err = (err or b"").decode("utf-8", "replace")
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        expect(code - 128 not in CRASH_SIGNALS, f"ended by signal {code - 128}: {last_line(err)}")
        crash = next((word for word in CRASHES if word in err), None)
        expect(not crash, f"exit code {code} and `{crash}`: {last_line(err)}")
        return Done(code, out or b"", err, time.monotonic() - begun)

    def call(self, *arguments, seconds=60, text=None, **options):
        """Runs regard as start() and finish() do."""
        if text is not None:
            options["stdin"] = subprocess.PIPE
        return self.finish(self.start(*arguments, **options), seconds, text)

    def call_for(self, codes, *arguments, **options):
        """Makes a call that must end with one of these exit codes, and with a message if the code is not 0."""
        done = self.call(*arguments, **options)
        what = " ".join(map(str, arguments[:2]))
        expect(
            done.code in codes,
            f"{what}: exit code {done.code}, expected {' or '.join(map(str, codes))}: {last_line(done.err)}",
        )
        silent = done.code != OK and 2 not in options.get("closed", ()) and not done.err.strip()
        expect(not silent, f"{what}: exit code {done.code} without a message")
        return done

    # Trainings.

    def training(self, name, *more):
        """Returns the arguments of a training in the folder of the accident."""
        return ["train", "-c", self.config, f"training.model_dir={self.folder / name}", *more]

    def train(self, name, *more):
        """Runs an undisturbed training; returns its folder."""
        done = self.call(*self.training(name, *more))
        if done.code != OK:
            raise Failure(CHECK_FAILED, f"an undisturbed training ended with {done.code}: {done.err}")
        return self.folder / name

    def copy_of_run(self, name, source=None):
        return pathlib.Path(shutil.copytree(source or self.run_folder, self.folder / name, symlinks=True))

    def copy_of_model(self, name):
        """Makes a model folder without the training state."""
        folder = self.folder / name
        self.call_for([OK], "average", self.run_folder, "--last", "1", "-o", folder)
        return folder

    @staticmethod
    def steps(run):
        """Returns the steps in the training log of a running training."""
        try:
            lines = (run / "train.jsonl").read_text(encoding="utf-8").splitlines()
        except OSError:
            return []
        return [json.loads(line)["step"] for line in lines if line.endswith("}")]

    def wait_for_step(self, process, run, step, seconds=60):
        def reached():
            expect(process.poll() is None, f"the training ended with {process.returncode}")
            return any(found >= step for found in self.steps(run))

        wait_until(reached, seconds, f"step {step}")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no message"
