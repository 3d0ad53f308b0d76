"""Checks two promises on real data: the batch size changes no translation, a kill changes no weights."""

import hashlib
import os
import signal
import pathlib
import subprocess
import tempfile
import time

from project import CHECK_FAILED, INPUT_ERROR, REGARD, ROOT, Failure, regard
from trainings import TEST

STEPS = 60  # before the kill, and again after it


def batch_sizes(model, work):
    """Yields a sentence for each batch size."""
    files = {}
    for size in (64, 1, 7):
        files[size] = work / f"batch.{size}"
        regard("translate", "-m", model, "-i", f"{TEST}.en", "--batch-size", size,
               "--n-best", "1", "-o", files[size])  # fmt: skip
    lines = {size: file.read_text(encoding="utf-8").splitlines() for size, file in files.items()}
    for size in (1, 7):
        pairs = zip(lines[64], lines[size], strict=True)
        differ = sum(a.split(" ||| ")[1] != b.split(" ||| ")[1] for a, b in pairs)
        yield f"{len(lines[64])} lines, batches of 64 and of {size}: {differ} lines differ.\n"


def weights(run):
    return hashlib.sha256((run / "last" / "model.safetensors").read_bytes()).hexdigest()


def killed_run(settings, work):
    """Trains once without interruption and once killed halfway and resumed; yields the hashes of the weights."""
    command = ("train", "-c", "configs/multi30k.yaml", f"training.max_steps={2 * STEPS}",
               "training.save_every=1", *settings)  # fmt: skip
    straight, killed = (f"training.model_dir={work / name}" for name in ("straight", "killed"))
    regard(*command, straight)
    with subprocess.Popen([REGARD, *command, killed], cwd=ROOT) as process:
        while not (work / "killed" / "checkpoints" / f"step-{STEPS:08d}").exists():
            if process.poll() is not None:
                raise Failure(CHECK_FAILED, f"the training ended with {process.returncode}")
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    last = os.path.basename(os.readlink(work / "killed" / "last"))
    regard(*command, killed)
    yield f"    Killed at {last}.\n"
    for name in ("straight", "killed"):
        yield f"    {weights(work / name)}  {name}/last/model.safetensors\n"


def markdown(study):
    model = study.folder / "multi30k"
    if not (model / "best").exists():
        raise Failure(INPUT_ERROR, f"found no model in {model}; train it with the verb table")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        return (
            f"\nTest 2016, beam 5, `{model.name}`:\n\n"
            + "".join(batch_sizes(model, work))
            + "\nUninterrupted training, and training killed (SIGKILL) and resumed:\n\n"
            + "".join(killed_run(study.trial, work))
            + "\n"
        )
