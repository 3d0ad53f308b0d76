"""Starts regard, to be watched or killed."""

import os
import subprocess

from project import REGARD, ROOT, need_regard


def start(arguments, log, environment=None):
    """regard with these arguments, its messages into `log`, in the project's folder."""
    need_regard()
    return subprocess.Popen(
        [REGARD, *arguments],
        cwd=ROOT,
        stdout=log,
        stderr=log,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
