"""Functions for all Python programs of scripts/ and studies/: folders, the program regard, the machine, errors."""

import argparse
import csv
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
REGARD = BUILD / "regard"
CORES = len(os.sched_getaffinity(0))  # respects taskset

# Exit codes of regard.
CHECK_FAILED = 1
USAGE_ERROR = 2
INPUT_ERROR = 3
ENVIRONMENT_ERROR = 6


class Failure(Exception):
    """Ends the program with a message for the user and an exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def warn(text):
    """Prints a message to standard error, after the name of the program."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def run(main):
    """Runs main(); prints the message of a Failure and exits with its code."""
    try:
        main()
    except Failure as failure:
        warn(failure)
        sys.exit(failure.code)


def parser_of(program, description):
    """Returns a parser of the command line of a program, whose description keeps its lines."""
    return argparse.ArgumentParser(
        prog=program, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def regard(*command):
    """Runs regard and returns its standard output; its messages go to standard error."""
    need_regard()
    done = subprocess.run(
        [REGARD, *map(str, command)], cwd=ROOT, stdout=subprocess.PIPE, stderr=sys.stderr, check=False
    )
    if done.returncode != 0:
        text = " ".join(map(str, command))
        raise Failure(done.returncode, f"regard {text} ended with exit code {done.returncode}")
    return done.stdout.decode("utf-8")


def regard_timed(*command):
    """Runs regard without its standard output. Returns its exit code and its processor time in seconds."""
    need_regard()
    process = subprocess.Popen([REGARD, *map(str, command)], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def call(*command, text=None, env=None):
    """Runs a command and returns its standard output. Raises Failure if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, input=text, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-2000:]
        raise Failure(CHECK_FAILED, f"{' '.join(words)} ended with {done.returncode}:\n{said}")
    return done.stdout


def megabytes(path):
    """Returns the size of a folder on the disk."""
    return int(call("du", "-s", "--block-size=1000", path).split()[0]) / 1000


def model_folder(model):
    """Returns the best model of a run, else its last; a model folder is returned as it is. Raises Failure if there
    is no model."""
    for folder in (model / "best", model / "last", model):
        if (folder / "model.safetensors").is_file():
            return folder
    raise Failure(INPUT_ERROR, f"{model}: found no model; expected a run folder or a folder with model.safetensors")


def count_of(number, thing):
    """Returns "1 core", "2,000 cores"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def names_in(text, known, what):
    """Returns the names of a comma-separated list, or all known names if it is empty."""
    wanted = list(filter(None, text.split(",")))
    for name in wanted:
        if name not in known:
            raise Failure(USAGE_ERROR, f"unknown {what} '{name}'; expected one of: {', '.join(known)}")
    return wanted or known


def validations(run):
    """Returns the validations of a run: the rows of validations.tsv by column, oldest first."""
    with open(ROOT / run / "validations.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def generate(program, *arguments):
    """Runs a generator of the build."""
    if not (BUILD / program).is_file():
        raise Failure(ENVIRONMENT_ERROR, f"found no {BUILD / program}; build it with scripts/build.sh")
    command = [BUILD / program, *map(str, arguments)]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=sys.stderr, check=True)


def need_regard():
    if not REGARD.is_file():
        raise Failure(ENVIRONMENT_ERROR, f"found no {REGARD}; build it with scripts/build.sh")


def need_multi30k(*names):
    for name in names:
        if not (ROOT / "data" / "multi30k" / name).is_file():
            raise Failure(
                INPUT_ERROR, f"found no data/multi30k/{name}; run scripts/fetch_multi30k.sh"
            )


def small_transformer(run):
    """Trains a Transformer of 2.1 million parameters on Multi30k for 600 steps, if the folder has none."""
    need_multi30k("train.en", "train.de", "val.en", "val.de")
    if not (run / "best").exists():
        regard(
            "train", "-c", "configs/multi30k_transformer_fast.yaml", "training.max_steps=600",
            "training.validation_every=600", "training.warmup_steps=100", "training.learning_rate=0.003",
            "training.moving_average=0", f"training.model_dir={run}",
        )  # fmt: skip


def processor():
    """Returns the name of the CPU."""
    model = re.search(r"^model name\s*: (.*)$", read("/proc/cpuinfo"), re.M)
    return model[1] if model else platform.machine()


def machine():
    """Returns cores, CPU and the version of regard, for the notes under a table."""
    return f"{count_of(CORES, 'core')} of {processor()}, {regard('--version').splitlines()[0]}"


def read(path):
    """Returns the text of a file, or an empty string if it cannot be read."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""
