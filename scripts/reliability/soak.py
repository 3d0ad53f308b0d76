"""A training left alone: its memory, open files and logs over time."""

import os
import pathlib
import signal
import tempfile
import time

from project import CHECK_FAILED, ROOT, Failure
from run import start

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
SAMPLE_SECONDS = 0.02  # so that the moments between two steps are met
SAMPLES_A_LOOK = 50  # at the validations and the open files
# What is freed goes back to the system at once, so that what is resident is what is held.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


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


def run(minutes, threads):
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as work:
        folder = pathlib.Path(work) / "run"
        with open(pathlib.Path(work) / "log", "wb") as log:
            process = start(
                ["train", *RECIPE, f"training.model_dir={folder}", f"threads={threads}"],
                log,
                GIVE_BACK,
            )
            validations = folder / "validations.tsv"
            # Flat from the second validation on: by then everything has been needed once.
            while rows_of(validations) < 3:
                if process.poll() is not None:
                    raise Failure(CHECK_FAILED, f"the training ended with {process.returncode}")
                time.sleep(1)
            # What a step, a validation or a checkpoint takes for a while is not what stays: of the
            # time from one validation to the next the least counts.
            least, files = {}, set()
            begun = time.monotonic()
            while (now := time.monotonic() - begun) < 60 * minutes and process.poll() is None:
                between = rows_of(validations)
                for _ in range(SAMPLES_A_LOOK):
                    sample = (resident(process.pid), now / 3600)
                    least[between] = min(sample, least.get(between, sample))
                    time.sleep(SAMPLE_SECONDS)
                files.add(open_files(process.pid))
            process.send_signal(signal.SIGTERM)
            code = process.wait()
        steps = rows_of(folder / "train.jsonl") * 10
        log_bytes = (folder / "train.log").stat().st_size
    if code != 143:
        raise Failure(CHECK_FAILED, f"the training ended with {code}, wanted 143")
    # The last one has no end, and may have met no such moment.
    least = [(hours, megabytes) for megabytes, hours in list(least.values())[:-1]]
    if len(least) < 4:
        raise Failure(CHECK_FAILED, f"{minutes} minutes are too few: {len(least)} validations")
    half = len(least) // 2
    growth, growth_at_last = slope(least), slope(least[half:])
    return {
        "minutes": minutes,
        "steps": steps,
        "validations": len(least),
        "memory_mb": [round(y, 1) for _, y in least],
        "growth_mb_an_hour": growth,
        "growth_mb_an_hour_second_half": growth_at_last,
        "open_files": [min(files), max(files)],
        "log_bytes": log_bytes,
        "text": f"{minutes} minutes from the second validation on, {threads} threads, {steps:,} "
        f"steps, {len(least)} validations. Memory, the least between two validations: "
        f"{least[0][1]:.1f} MB at first, {least[half][1]:.1f} MB at half time, {least[-1][1]:.1f} MB "
        f"at last; slope {growth:+.2f} MB an hour over all, {growth_at_last:+.2f} over the second "
        f"half. Open files: {min(files)} to {max(files)}. train.log: {log_bytes / 1e6:.2f} MB, "
        f"{log_bytes / max(1, steps):.0f} bytes a step.\n",
    }
