"""Measures memory, open files and logs of a long training."""

import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time

from project import CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, count_of
from run import start

LOGGING_EVERY = 10
RECIPE = [
    "--config=configs/quickstart.yaml",
    "training.epochs=0",
    "training.scheduling=constant",
    "training.warmup_steps=0",
    "training.max_steps=100000000",
    "training.validation_unit=steps",
    "training.validation_every=200",
    "training.save_every=100",
    f"training.logging_every={LOGGING_EVERY}",
]
SAMPLE_SECONDS = 0.02  # short enough to hit the quiet moments between two steps
SAMPLES_A_LOOK = 50  # memory samples before validations and open files are counted again
# Freed memory is returned to the system at once, so that resident memory equals held memory.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


class Memory:
    """Memory of a process in MB: heap memory, counted by heap_counter.cpp, and resident memory."""

    def __init__(self, work):
        self.count = work / "heap_count"
        self.count.write_bytes(bytes(8))
        self.library = work / "heap_counter.so"
        source = ROOT / "scripts" / "reliability" / "heap_counter.cpp"
        compiler = ["c++", "-std=c++20", "-O2", "-shared", "-fPIC", "-o", self.library, source]
        if subprocess.run(compiler, check=False).returncode != 0:
            raise Failure(ENVIRONMENT_ERROR, f"{source} does not compile")

    def environment(self):
        return {**GIVE_BACK, "LD_PRELOAD": str(self.library), "HEAP_COUNT": str(self.count)}

    def held(self):
        return struct.unpack("l", self.count.read_bytes())[0] / 1e6

    @staticmethod
    def resident(pid):
        fields = pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def slope(samples):
    """Returns the least-squares slope of the points (x, y)."""
    n = len(samples)
    mean_x = sum(x for x, _ in samples) / n
    mean_y = sum(y for _, y in samples) / n
    above = sum((x - mean_x) * (y - mean_y) for x, y in samples)
    return above / max(1e-12, sum((x - mean_x) ** 2 for x, _ in samples))


def rows_of(path):
    return len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0


class Curve:
    """The least memory in each interval between two validations: it excludes the temporary memory of steps,
    validations and checkpoints."""

    def __init__(self):
        self.least = {}  # interval to (megabytes, hours)

    def add(self, interval, hours, megabytes):
        self.least[interval] = min((megabytes, hours), self.least.get(interval, (megabytes, hours)))

    def close(self):
        """Returns points (hours, MB). Drops the last interval: it is incomplete and may lack a quiet moment."""
        return [(hours, megabytes) for megabytes, hours in list(self.least.values())[:-1]]


def described(points):
    half = len(points) // 2
    return (
        f"{points[0][1]:.2f} MB at the start, {points[half][1]:.2f} MB at half time, "
        f"{points[-1][1]:.2f} MB at the end, slope {slope(points):+.2f} MB an hour"
    )


def run(minutes, threads):
    held, resident, files = Curve(), Curve(), set()
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as work:
        folder = pathlib.Path(work) / "run"
        memory = Memory(pathlib.Path(work))
        with open(pathlib.Path(work) / "log", "wb") as log:
            process = start(
                ["train", *RECIPE, f"training.model_dir={folder}", f"threads={threads}"],
                log,
                memory.environment(),
            )
            validations = folder / "validations.tsv"
            # Starts at the second validation: by then everything has been allocated once. Row 1 is the header.
            while rows_of(validations) < 3:
                if process.poll() is not None:
                    raise Failure(CHECK_FAILED, f"the training ended with {process.returncode}")
                time.sleep(1)
            begun = time.monotonic()
            while (now := time.monotonic() - begun) < 60 * minutes and process.poll() is None:
                interval = rows_of(validations)
                for _ in range(SAMPLES_A_LOOK):
                    held.add(interval, now / 3600, memory.held())
                    resident.add(interval, now / 3600, memory.resident(process.pid))
                    time.sleep(SAMPLE_SECONDS)
                files.add(open_files(process.pid))
            process.send_signal(signal.SIGTERM)
            code = process.wait()
        steps = rows_of(folder / "train.jsonl") * LOGGING_EVERY
        log_bytes = (folder / "train.log").stat().st_size
    if code != 143:  # stopped by SIGTERM
        raise Failure(CHECK_FAILED, f"the training ended with exit code {code}, expected 143")
    held, resident = held.close(), resident.close()
    if len(held) < 4:
        raise Failure(CHECK_FAILED, f"{minutes} minutes are too short: {len(held)} validations, expected 4 or more")
    return {
        "minutes": minutes,
        "steps": steps,
        "validations": len(held),
        "held_mb": [round(y, 2) for _, y in held],
        "held_mb_an_hour": slope(held),
        "resident_mb": [round(y, 1) for _, y in resident],
        "resident_mb_an_hour": slope(resident),
        "open_files": [min(files), max(files)],
        "log_bytes": log_bytes,
        "text": f"{minutes} minutes from the second validation on, {count_of(threads, 'thread')}, {steps:,} "
        f"steps, {len(held)} validations. Memory is the minimum between two validations.\n\n"
        f"- Heap memory: {described(held)}.\n- Resident memory: "
        f"{described(resident)}.\n- Open files: {min(files)} to {max(files)}.\n- train.log: "
        f"{log_bytes / 1e6:.2f} MB, {log_bytes / max(1, steps):.0f} bytes for each step.\n",
    }
