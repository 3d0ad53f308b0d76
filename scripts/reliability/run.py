"""What the checks share: the program, its folder, the machine."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGARD = ROOT / "build" / "regard"


class Failure(Exception):
    """Ends the script with a sentence and an exit code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def start(arguments, log):
    """regard with these arguments, its messages into `log`, in the project's folder."""
    if not REGARD.is_file():
        raise Failure(6, f"no {REGARD}; scripts/build.sh makes it")
    return subprocess.Popen(
        [REGARD, *arguments], cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL
    )


def machine():
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", cpu, re.M)
    version = subprocess.run(
        [REGARD, "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return f"Machine: {os.cpu_count()} cores of {model[1] if model else 'unknown'}, regard {version}."
