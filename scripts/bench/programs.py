"""Runs programs and measures them."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

from project import ENVIRONMENT_ERROR, REGARD, ROOT, Failure


class Run:
    """Wall time and peak memory of a finished program."""

    def __init__(self, seconds, peak_bytes):
        self.seconds = seconds
        self.peak_bytes = peak_bytes


@contextlib.contextmanager
def work_folder():
    with tempfile.TemporaryDirectory(prefix="regard-bench-") as folder:
        yield pathlib.Path(folder)


def tail(path, lines=5):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def timed(
    command, log, environment=None, watch=None, stdin=os.devnull, answer=None, prefix=()
):
    """Runs the command, waits for its end and returns a Run. Raises Failure if it fails. The output of
    the command goes into the file `log`; its standard output goes into the file `answer` instead, if that
    is given. Its standard input is the file `stdin`. Calls `watch` with the seconds since the start, every
    0.2 seconds. `prefix` is a program that runs the command, as a list of words."""
    began = time.perf_counter()
    with (
        open(stdin, "rb") as source,
        open(log, "wb") as output,
        open(answer or os.devnull, "wb") as answers,
    ):
        process = subprocess.Popen(
            [str(word) for word in (*prefix, *command)],
            cwd=ROOT,
            stdin=source,
            stdout=answers if answer else output,
            stderr=output,
            env={**os.environ, **(environment or {})},
        )
        try:
            while watch:
                watch(time.perf_counter() - began)
                # WNOWAIT leaves the ended process to wait4(), which returns its peak memory.
                if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    break
                time.sleep(0.2)
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failure(
            ENVIRONMENT_ERROR,
            f"{' '.join(str(word) for word in command)} ended with {process.returncode}:\n"
            + tail(pathlib.Path(log)),
        )
    return Run(seconds, usage.ru_maxrss * 1024)


def train(config, folder, options, *overrides, watch=None, prefix=()):
    """Runs `regard train --fresh` into `folder`."""
    command = [REGARD, "train", "-c", config, "--fresh", "--threads", options.threads]
    command += [f"training.model_dir={folder}", *overrides]
    pathlib.Path(folder).parent.mkdir(parents=True, exist_ok=True)
    return timed(command, f"{folder}.log", watch=watch, prefix=prefix)


def train_log(folder):
    """Returns the lines of train.jsonl."""
    text = (pathlib.Path(folder) / "train.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def relay(report, command):
    """Passes the Markdown that a benchmark program prints to the report, a block at a time. Returns the
    JSON object of the last line."""
    block, last = "", ""  # `last` is not part of the block yet: it may be the JSON object
    with subprocess.Popen(
        [str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            block += last
            if last == "\n":
                report.say(block)
                block = ""
            last = line
    if process.returncode != 0:
        raise Failure(max(1, process.returncode), f"{command[0].name} failed; see above")
    if block.strip():
        report.say(block)
    return json.loads(last)
