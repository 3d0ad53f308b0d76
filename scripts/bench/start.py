"""Measures the wall time of whole processes with a warm page cache, the time before the first step of a training,
and how busy a translation keeps the processors."""

import os
import subprocess
import time

from pages import table
from programs import timed, work_folder
from project import CORES, ENVIRONMENT_ERROR, REGARD, ROOT, Failure, need_multi30k
from report import BENCHES, build, median, need_model

LINE = "A man in a blue shirt is standing on a ladder cleaning a window.\n"
NAMES = {
    "empty": "a program that links LibTorch and does nothing",
    "help": "`regard --help`",
    "translate": "`regard translate`, one line",
}
RECIPE = "configs/multi30k_fast.yaml"
LINES = 8000  # of the training text, translated to measure how busy the processors are


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


def seconds_to_first_step(folder, options):
    """Starts a training, stops it when it begins its first step, and returns the seconds until then."""
    began = time.perf_counter()
    command = [REGARD, "train", "-c", RECIPE, "--fresh", "--threads", options.threads, f"training.model_dir={folder}"]
    with subprocess.Popen(
        [str(word) for word in command], cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if "Training on" in line:
                seconds = time.perf_counter() - began
                process.kill()
                return seconds
    raise Failure(ENVIRONMENT_ERROR, f"regard train {RECIPE} ended with {process.returncode} before its first step")


def rounds_of_trainings(options):
    return 2 if options.quick else 5


def measure_training(report, options):
    """Returns rows for the time before the first step of a training."""
    need_multi30k("train.en", "train.de")
    rounds = rounds_of_trainings(options)
    first, again = [], []
    for _ in range(rounds):
        with work_folder() as folder:
            first.append(seconds_to_first_step(folder / "run", options))
            again.append(seconds_to_first_step(folder / "run", options))
    report.figures["seconds_to_first_step"] = {"new": median(first), "again": median(again)}
    return [
        [f"`regard train -c {RECIPE}`, to the first step{remark}", f"{median(t):.2f}", f"{min(t):.2f}", f"{max(t):.2f}"]
        for remark, t in ((", with its vocabulary to learn", first), (", again with `--fresh`", again))
    ]


def measure_share(report, model, options):
    """Reports the share of the processors that a translation uses."""
    need_multi30k("train.en")
    lines = 500 if options.quick else LINES
    rows = []
    with work_folder() as folder, open(ROOT / "data/multi30k/train.en", encoding="utf-8") as text:
        source = folder / "source"
        source.write_text("".join(line for _, line in zip(range(lines), text)), encoding="utf-8")
        for threads in (1, 2, 8):
            command = [REGARD, "translate", "-m", model, "-i", source, "-o", folder / "out", "--threads", threads]
            before = os.times()
            seconds = timed(command, folder / "log").seconds
            after = os.times()
            busy = after.children_user + after.children_system - before.children_user - before.children_system
            rows.append([threads, f"{seconds:.2f}", f"{lines / seconds:.0f}", f"{busy / seconds / min(threads, CORES):.2f}"])
    report.say(
        f"`regard translate`, {lines:,} lines, beam search, {CORES} cores. The share is the processor time ÷ (wall time × "
        "cores in use); it includes the start of the process:"
    )
    report.say(table(["threads", "seconds", "sentences/s", "share"], rows))
    report.figures["share"] = rows


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
    report.say(
        f"Wall time from the start of the process, {rounds} rounds in turn, {rounds_of_trainings(options)} for trainings:"
    )
    rows = [
        [NAMES[name], f"{median(t):.3f}", f"{min(t):.3f}", f"{max(t):.3f}"]
        for name, t in times.items()
    ]
    report.figures["seconds"] = {name: median(t) for name, t in times.items()}
    report.say(table(["", "median, s", "least", "most"], rows + measure_training(report, options)))
    if "translate" in programs:
        measure_share(report, model, options)
