"""Kills a training at random moments and resumes it; compares it with one that was never stopped."""

import hashlib
import json
import pathlib
import random
import tempfile
import time

from project import CHECK_FAILED, ROOT, Failure
from run import start

VALIDATION_EVERY = 200
# Both trainings stop here first and continue with a higher max_steps, which must not change the result. At this
# step neither a validation nor a log line is due.
FIRST_LIMIT = 150

# A recipe that uses every part of the trainer that has a state: averages, two corpora, accumulated gradients,
# sub-word sampling, dropout, a schedule that counts validations, a best checkpoint, more than one thread.
RECIPE = [
    "--config=configs/quickstart.yaml",
    "data.train.1.src=data/dev.en",
    "data.train.1.trg=data/dev.fr",
    "data.train.1.weight=2.5",
    "data.tokenizer.vocabulary_size=500",
    "data.tokenizer.sampling=0.1",
    "model.encoder.embedding_dim=16",
    "model.encoder.hidden_size=16",
    "model.decoder.embedding_dim=16",
    "model.decoder.hidden_size=16",
    "model.decoder.readout_size=16",
    "model.attention.size=16",
    "training.batch_size=256",
    "training.gradient_accumulation=2",
    "training.moving_average=0.99",
    "training.scheduling=plateau",
    "training.decrease_patience=1",
    "training.epochs=0",
    "training.validation_unit=steps",
    f"training.validation_every={VALIDATION_EVERY}",
    "training.save_every=10",
    "training.logging_every=8",
    "search.max_output_length=20",
    "threads=2",
]
# Parts of the names of fields that differ between sessions.
TIMES = ("seconds", "tokens_per_second", "peak_memory")


def command(folder, steps):
    return ["train", *RECIPE, f"training.model_dir={folder}", f"training.max_steps={steps}"]


def train_to_the_end(folder, steps, log):
    process = start(command(folder, steps), log)
    if process.wait() != 0:
        raise Failure(CHECK_FAILED, f"{folder}: a training ended with {process.returncode}; see {log.name}")


def wait_until(found, process):
    while process.poll() is None and not found():
        time.sleep(0.0005)


def last_checkpoint(folder):
    """Returns the name of the checkpoint that `last` points to, or an empty string."""
    last = folder / "last"
    return last.resolve().name if last.exists() else ""


def kill_once(folder, steps, moments, log):
    """Starts the training and kills it, half of the time while it writes a checkpoint. `moments` is the source
    of random numbers. Returns where the training was: "in writing", "elsewhere" or "at its end"."""
    process = start(command(folder, steps), log)
    before = last_checkpoint(folder)
    in_writing = moments.random() < 0.5
    if in_writing:
        checkpoints = folder / "checkpoints"
        wait_until(lambda: any(checkpoints.glob(".step-*")), process)
        time.sleep(moments.uniform(0, 0.01))
    else:
        wait_until(lambda: last_checkpoint(folder) != before, process)
        time.sleep(moments.uniform(0, 0.4))
    half_written = any((folder / "checkpoints").glob(".step-*"))
    process.kill()
    if process.wait() == 0:
        return "at its end"
    # If the hidden folder is gone, the writing ended before the signal came.
    half_written = half_written and any((folder / "checkpoints").glob(".step-*"))
    return "in writing" if half_written else "elsewhere"


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def without_times(record):
    """Returns a JSON value without the fields of TIMES, also in inner objects."""
    if isinstance(record, dict):
        return {
            key: without_times(value)
            for key, value in record.items()
            if not any(word in key for word in TIMES)
        }
    return record


def table_without_times(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if name != "seconds"]
    return [[row[i] for i in kept] for row in rows]


def outcome(folder):
    """Returns all that must be equal for two trainings of the same recipe: files, by a name for messages."""
    last = folder / "last"
    state = without_times(json.loads((last / "training.json").read_text(encoding="utf-8")))
    train_log = [
        without_times(json.loads(line))
        for line in (folder / "train.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return {
        "last checkpoint": last.resolve().name,
        "best checkpoint": (folder / "best").resolve().name,
        "weights": digest(last / "model.safetensors"),
        "optimizer and random states": digest(last / "training.safetensors"),
        "position, schedule, patience": state,
        "validations.tsv": table_without_times(folder / "validations.tsv"),
        "train.jsonl": train_log,
        "validation translations": {
            path.name: digest(path) for path in sorted((folder / "validation").iterdir())
        },
    }


def run(kills, seed):
    moments = random.Random(seed)
    steps = VALIDATION_EVERY * max(3, round(40 * kills / VALIDATION_EVERY))
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as work:
        work = pathlib.Path(work)
        with open(work / "log", "wb") as log:
            straight = work / "straight"
            killed = work / "killed"
            for folder in (straight, killed):
                train_to_the_end(folder, FIRST_LIMIT, log)
            train_to_the_end(straight, steps, log)
            found = [kill_once(killed, steps, moments, log) for _ in range(kills)]
            stopped_at = last_checkpoint(killed)
            train_to_the_end(killed, steps, log)
        one, other = outcome(straight), outcome(killed)
    wrong = [what for what in one if one[what] != other[what]]
    if wrong:
        raise Failure(CHECK_FAILED, f"not equal after {kills} kills (seed {seed}): {', '.join(wrong)}")
    places = {place: found.count(place) for place in ("in writing", "elsewhere", "at its end")}
    return {
        "kills": kills,
        "seed": seed,
        "steps": steps,
        **places,
        "text": f"{kills} kills (SIGKILL, seed {seed}) of a training of {steps:,} steps, started with "
        f"a limit of {FIRST_LIMIT} steps that was then raised: {places['in writing']} while a checkpoint was "
        f"being written, {places['elsewhere']} at other moments, {places['at its end']} after the end; the "
        f"last one came after {stopped_at}. Equal to the byte to a training that was raised too and never killed: "
        f"{', '.join(one)}.\n",
    }
