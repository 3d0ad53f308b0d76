"""Runs the program of the package: `regard` on the command line, or `python -m regard`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from .errors import EnvironmentError
from .program import environment, path

ENVIRONMENT_ERROR = 6


def main() -> NoReturn:
    try:
        program = str(path())
    except EnvironmentError as error:
        print(f"regard: {error}", file=sys.stderr)
        sys.exit(ENVIRONMENT_ERROR)
    os.execve(program, [program, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
