"""Starts regard as a process that can be watched or killed."""

import os
import subprocess

from project import REGARD, ROOT, need_regard


def start(arguments, log, environment=None):
    """Starts regard with these arguments in the project folder; its output goes into `log`."""
    need_regard()
    return subprocess.Popen(
        [REGARD, *arguments],
        cwd=ROOT,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
