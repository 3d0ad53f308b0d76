"""Compares the speed of two builds of regard: the processor time of the same training. Both run on each core at the
same time, so that the scheduler gives them turns of milliseconds, and what disturbs a machine disturbs both alike."""

import os
import pathlib
import signal
import subprocess

from pages import table
from programs import work_folder
from project import ENVIRONMENT_ERROR, REGARD, ROOT, USAGE_ERROR, Failure
from report import build, median

PRECISIONS = ("fp32", "auto")


def seconds(config, precision, steps, threads, before, first):
    """Trains with both programs on each core. Returns [(seconds of `before`, seconds of the build)] by core. `first`: 0
    or 1, which program begins on the first core."""
    found, processes = {}, {}
    with work_folder() as work:
        for place, core in enumerate(sorted(os.sched_getaffinity(0))):
            for side in (0, 1) if (place + first) % 2 == 0 else (1, 0):
                command = [
                    "taskset", "-c", core, (before, REGARD)[side], "train", "-c", config, "--threads", threads,
                    f"training.precision={precision}", f"training.max_steps={steps}",
                    "training.validation_every=1000000", "training.show_examples=0",
                    f"training.model_dir={work}/{core}-{side}",
                ]  # fmt: skip
                process = subprocess.Popen(
                    list(map(str, command)), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                processes[process.pid] = (core, side)
        while processes:
            pid, status, usage = os.wait4(-1, 0)
            if status != 0:
                for other in set(processes) - {pid}:
                    os.kill(other, signal.SIGKILL)
                    os.waitpid(other, 0)
                code = os.waitstatus_to_exitcode(status)
                raise Failure(ENVIRONMENT_ERROR, f"regard train -c {config} ended with {code}")
            found[processes.pop(pid)] = usage.ru_utime + usage.ru_stime
    return [(found[core, 0], found[core, 1]) for core in sorted({core for core, _ in found})]


def run(report, options):
    if not options.before:
        raise Failure(USAGE_ERROR, "builds: found no --before, expected the program of the other build")
    before = pathlib.Path(options.before).resolve()
    build("regard")
    threads = options.threads or 1
    steps, rounds = (10, 1) if options.quick else (options.steps or 50, options.rounds)
    rows = []
    for config in options.config:
        for precision in PRECISIONS:
            pairs = []
            for number in range(rounds):
                pairs += seconds(config, precision, steps, threads, before, number % 2)
            speeds = [old / new for old, new in pairs]
            report.figures[f"{config} {precision}"] = pairs
            spread = f"{min(speeds):.3f} to {max(speeds):.3f}"
            rows.append([f"`{config}`, {precision}", f"{median(speeds):.3f}", spread])
    report.say(
        f"Speed of this build ÷ that of {before}: processor time of {steps} steps with {threads} thread(s), "
        f"tokenizer included, both programs on each core at once, {len(speeds)} pairs.\n\n"
        + table(["training", "median", "range"], rows)
    )
