"""Measures the wall time of whole processes with a warm page cache."""

import subprocess
import time

from pages import table
from project import ENVIRONMENT_ERROR, REGARD, ROOT, Failure
from report import BENCHES, build, median, need_model

LINE = "A man in a blue shirt is standing on a ladder cleaning a window.\n"
NAMES = {
    "empty": "a program that links LibTorch and does nothing",
    "help": "`regard --help`",
    "translate": "`regard translate`, one line",
}


def wall(command):
    """Runs a command with one line of text as its input; returns its wall time in seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, input=LINE, text=True, capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, f"{command[0].name}: {done.stderr.strip()}")
    return seconds


def run(report, options):
    build("regard", "empty_bench")
    programs = {"empty": [BENCHES / "empty_bench"], "help": [REGARD, "--help"]}
    try:
        model = need_model(options.model)
        programs["translate"] = [REGARD, "translate", "-m", model, "--threads", options.threads]
    except Failure as failure:
        report.say(f"Translation was not measured: {failure}.")
    rounds = 3 if options.quick else 11
    times = {name: [] for name in programs}
    for index in range(rounds + 1):  # the first round fills the page cache
        for name, command in programs.items():
            seconds = wall(command)
            if index > 0:
                times[name].append(seconds)
    report.say(f"Wall time of the whole process, {rounds} rounds in turn:")
    rows = [
        [NAMES[name], f"{median(t):.3f}", f"{min(t):.3f}", f"{max(t):.3f}"]
        for name, t in times.items()
    ]
    report.say(table(["", "median, s", "least", "most"], rows))
    report.figures["seconds"] = {name: median(t) for name, t in times.items()}
