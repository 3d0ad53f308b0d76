"""A training left alone: its memory, open files and logs over time."""

import os
import pathlib
import signal
import tempfile
import time

from run import ROOT, Failure, start

RECIPE = [
    "--config=configs/quickstart.yaml",
    "training.epochs=0",
    "training.scheduling=constant",
    "training.warmup_steps=0",
    "training.max_steps=100000000",
    "training.validation_unit=steps",
    "training.validation_every=200",
    "training.save_every=100",
    "training.logging_every=10",
]
SAMPLE_SECONDS = 5


def resident(pid):
    """Megabytes in memory now."""
    fields = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def slope(samples):
    """Least squares: of (x, y), y's growth for one x."""
    n = len(samples)
    mean_x = sum(x for x, _ in samples) / n
    mean_y = sum(y for _, y in samples) / n
    above = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    return above / max(1e-12, sum((x - mean_x) ** 2 for x, _ in samples))


def rows_of(path):
    return len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0


def run(minutes):
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as work:
        folder = pathlib.Path(work) / "run"
        with open(pathlib.Path(work) / "log", "wb") as log:
            process = start(["train", *RECIPE, f"training.model_dir={folder}"], log)
            validations = folder / "validations.tsv"
            # Flat from the second validation on: by then everything has been needed once.
            while rows_of(validations) < 3:
                if process.poll() is not None:
                    raise Failure(1, f"the training ended with {process.returncode}")
                time.sleep(1)
            memory, files = [], []
            begun = time.monotonic()
            while (now := time.monotonic() - begun) < 60 * minutes and process.poll() is None:
                memory.append((now / 3600, resident(process.pid)))
                files.append(open_files(process.pid))
                time.sleep(SAMPLE_SECONDS)
            process.send_signal(signal.SIGTERM)
            code = process.wait()
        steps = rows_of(folder / "train.jsonl") * 10
        validated = rows_of(validations) - 1
        log_bytes = (folder / "train.log").stat().st_size
    if code != 143:
        raise Failure(1, f"the training ended with {code}, wanted 143")
    growth = slope(memory)
    return {
        "minutes": minutes,
        "steps": steps,
        "validations": validated,
        "memory_mb": [round(y, 1) for _, y in memory[:: max(1, len(memory) // 20)]],
        "growth_mb_an_hour": growth,
        "open_files": [min(files), max(files)],
        "log_bytes": log_bytes,
        "text": f"{minutes} minutes after the second validation, {steps:,} steps, {validated} "
        f"validations: memory {memory[0][1]:.0f} MB at first, {memory[-1][1]:.0f} MB at last, slope "
        f"{growth:+.2f} MB an hour; open files {min(files)} to {max(files)}; train.log "
        f"{log_bytes / 1e6:.2f} MB, {log_bytes / max(1, steps):.0f} bytes a step.\n",
    }
