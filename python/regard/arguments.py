"""Checks the arguments of the public functions and converts them to those of the library."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Iterable, Mapping

from .errors import InputError


def check_lines(lines: Iterable[str], name: str) -> list[str]:
    """Returns the lines as a list. `name` is that of one line in messages."""
    if isinstance(lines, (str, bytes)):
        raise TypeError(f"{name}: found one {type(lines).__name__}, expected a list of str; write [text] for one line")
    try:
        checked = list(lines)
    except TypeError:
        raise TypeError(f"{name}: found {type(lines).__name__}, expected a list of str") from None
    for number, line in enumerate(checked, 1):
        if not isinstance(line, str):
            advice = "; decode it first: line.decode('utf-8')" if isinstance(line, bytes) else ""
            raise TypeError(f"{name}:{number}: found {type(line).__name__}, expected str{advice}")
        try:
            line.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{name}:{number}: character {error.start + 1} is the surrogate U+{ord(line[error.start]):04X}, which "
                "UTF-8 cannot represent; read the text with the encoding that it was written in"
            ) from None
    return checked


def as_assignments(options: Mapping[str, object]) -> list[str]:
    """Returns "key=value" for each option, as regard reads them."""
    return [f"{key}={as_text(key, value)}" for key, value in options.items()]


def as_text(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (list, tuple)):
        return json.dumps(value)
    raise TypeError(f"{key}: found {type(value).__name__}, expected a number, a str, a bool or a list of them")
