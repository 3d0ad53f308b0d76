"""Trains other toolkits for comparison, each in its own virtual environment under build/peers.

An environment is created on first use, from the Python registry that pip is configured for. On a machine
without a GPU, set PIP_EXTRA_INDEX_URL to PyTorch's index of CPU wheels to save gigabytes. If an
environment cannot be created, its row is left out.
"""

import os
import shutil
import sys

import peer_joeynmt
import peer_opennmt
from programs import train_log, timed, train, work_folder
from pages import table
from project import BUILD, ROOT, Failure, need_multi30k, warn
from report import build, median

TORCH = "torch==2.13.0"  # installed first, and pinned in each later step so that nothing replaces it
PEERS = {"joeynmt": peer_joeynmt, "opennmt": peer_opennmt}
SENTENCES = 80  # in each batch


def environment(name):
    """Returns the Python of a peer's environment, which is created if needed; None if that fails."""
    folder = BUILD / "peers" / name
    python = folder / "bin" / "python"
    wanted = "\n".join([TORCH, *(" ".join(step) for step in PEERS[name].PACKAGES)])
    stamp = folder / "installed"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    warn(f"installing {PEERS[name].TITLE} into {folder}; this takes minutes")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    pip = [python, "-m", "pip", "install", "--quiet"]
    try:
        timed([sys.executable, "-m", "venv", folder], log)
        for packages in ([TORCH], *PEERS[name].PACKAGES):
            constraint = [] if "--no-deps" in packages else [TORCH]
            timed([*pip, *packages, *constraint], log)
    except Failure as failure:
        warn(f"{PEERS[name].TITLE} is left out: {failure}")
        return None
    stamp.write_text(wanted, encoding="utf-8")
    return python


class Case:
    """The input of every program: the same text, the same sub-words, the same number of steps."""

    def __init__(self, work, options):
        self.work = work
        self.steps = options.steps or (20 if options.quick else 100)
        self.every = max(1, self.steps // 5)  # steps between two lines of a log
        self.steps = 5 * self.every
        self.threads = options.threads or len(os.sched_getaffinity(0))
        self.sentences = SENTENCES
        self.tokenizers = None  # folder with source.model and target.model; set by run_regard()
        self.options = options

    def folder(self, name):
        """Returns a folder for the output of a program, which does not exist yet."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def run(self, name, command):
        threads = str(self.threads)
        log = self.work / f"{name}.log"
        ran = timed(command, log, {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads})
        return ran, log.read_text(encoding="utf-8", errors="replace")


def run_regard(case):
    """Returns the finished program and the target tokens per second of each line of its log."""
    folder = case.folder("regard")
    ran = train(
        "configs/bench.yaml",
        folder,
        case.options,
        f"training.max_steps={case.steps}",
        f"training.validation_every={case.steps}",
        f"training.logging_every={case.every}",
    )
    case.tokenizers = folder / "last"
    return ran, [line["target_tokens_per_second"] for line in train_log(folder)]


def write_pieces(python, case):
    """Writes the vocabularies and the corpus in sub-words, from the SentencePiece models of regard."""
    for side, language in (("source", "en"), ("target", "de")):
        command = [python, ROOT / "scripts" / "bench" / "inside" / "encode.py"]
        command += [case.tokenizers / f"{side}.model", f"data/multi30k/train.{language}"]
        command += [case.work / f"{side}.pieces", case.work / f"{side}.encoded"]
        timed(command, case.work / "encode.log")


def train_side_by_side(report, options):
    """Trains all programs in turn, for several rounds; reports tokens per second without the first steps."""
    need_multi30k("train.en", "train.de", "val.en", "val.de")
    build("regard")
    pythons = {name: python for name in options.against if (python := environment(name))}
    absent = [PEERS[name].TITLE for name in options.against if name not in pythons]
    rounds = 1 if options.quick else 3
    speeds = {name: [] for name in ("regard", *pythons)}  # regard first: it trains the tokenizers
    peaks = {name: [] for name in speeds}
    with work_folder() as work:
        case = Case(work, options)
        for index in range(rounds):
            for name in list(speeds):
                warn(f"{name}, {case.steps} steps, round {index + 1} of {rounds}")
                try:
                    if name == "regard":
                        ran, tokens = run_regard(case)
                    else:
                        if index == 0:
                            write_pieces(pythons[name], case)
                        ran, tokens = PEERS[name].train(case, pythons[name])
                except Failure as failure:
                    if name == "regard":
                        raise
                    warn(f"{PEERS[name].TITLE} is left out: {failure}")
                    absent.append(PEERS[name].TITLE)
                    del speeds[name], peaks[name]
                    continue
                speeds[name].append(median(tokens[1:]))  # without the warm-up
                peaks[name].append(ran.peak_bytes)
    report_speeds(report, case, rounds, speeds, peaks, absent)


def report_speeds(report, case, rounds, speeds, peaks, absent):
    report.say(
        f"Training on Multi30k, English to German, batches of {SENTENCES} sentences, the same "
        f"sub-words for all, {case.threads} thread(s), {case.steps} steps of each in turn, "
        f"{rounds} round(s), without the first {case.every} steps of each round:"
    )
    ours = median(speeds["regard"])
    rows = [
        [
            "regard" if name == "regard" else PEERS[name].TITLE,
            f"{median(values):.0f}",
            f"{ours / median(values):.2f}",
            f"{median(peaks[name]) / 1e6:.0f}",
        ]
        for name, values in speeds.items()
    ]
    report.say(table(["", "target tokens/s", "regard is faster by", "peak MB"], rows))
    for title in absent:
        report.say(f"{title} could not be run and has no row.")
    report.figures["against"] = {
        name: {"target_tokens_per_second": median(values), "peak_memory": median(peaks[name])}
        for name, values in speeds.items()
    }
    report.figures["against_steps"] = case.steps
    report.figures["absent"] = absent
