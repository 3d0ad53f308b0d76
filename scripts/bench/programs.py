"""Runs programs to be measured."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from report import ENVIRONMENT_ERROR, REGARD, ROOT, Failure


class Run:
    """A program that has ended: how long it took, and the most memory it held."""

    def __init__(self, seconds, peak_bytes):
        self.seconds = seconds
        self.peak_bytes = peak_bytes


@contextlib.contextmanager
def work_folder():
    with tempfile.TemporaryDirectory(prefix="regard-bench-") as folder:
        yield pathlib.Path(folder)


def tail(path, lines=5):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def timed(command, log, environment=None, watch=None):
    """Runs to the end, output into the file `log`; calls `watch` now and then."""
    began = time.perf_counter()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
        try:
            while watch:
                watch(time.perf_counter() - began)
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


def train(config, folder, options, *overrides, watch=None):
    """regard train, from nothing, into `folder`."""
    command = [REGARD, "train", "-c", config, "--fresh", "--threads", options.threads]
    command += [f"training.model_dir={folder}", *overrides]
    return timed(command, f"{folder}.log", watch=watch)


def journal(folder):
    """The lines of train.jsonl."""
    text = (pathlib.Path(folder) / "train.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def relay(report, command):
    """Passes a benchmark's Markdown on; returns the JSON object of its last line."""
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise Failure(done.returncode, f"{command[0].name} failed; see above")
    markdown, _, last = done.stdout.rstrip("\n").rpartition("\n")
    report.say(markdown)
    sys.stdout.flush()
    return json.loads(last)
