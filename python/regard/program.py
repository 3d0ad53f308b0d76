"""The program `regard` of the package."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

from .errors import EnvironmentError


def path() -> pathlib.Path:
    """Returns the path of the program. Raises EnvironmentError if the package is damaged."""
    program = pathlib.Path(__file__).with_name("bin") / "regard"
    if not os.access(program, os.X_OK):
        raise EnvironmentError(f"{program}: found no program; install the package regard again")
    return program


def environment() -> dict[str, str]:
    """Returns the variables with which the program finds this Python, and the LibTorch of PyTorch in any folder."""
    variables = {"REGARD_PYTHON": sys.executable, **os.environ}
    found = importlib.util.find_spec("torch")
    if found is not None and found.origin is not None:
        folders = [variables.get("LD_LIBRARY_PATH", ""), str(pathlib.Path(found.origin).with_name("lib"))]
        variables["LD_LIBRARY_PATH"] = ":".join(filter(None, folders))
    return variables
