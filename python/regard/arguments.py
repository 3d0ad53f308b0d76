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


def check_phrases(phrases: Iterable[str] | Iterable[Iterable[str]], name: str) -> list[list[str]]:
    """Returns the phrases of each line, or of all lines as one list."""
    if isinstance(phrases, str):
        raise TypeError(f"{name}: found one str, expected a list of str; write [text] for one phrase")
    given = list(phrases)
    if any(not isinstance(each, str) for each in given):
        return [check_lines(each, f"{name}:{line}") for line, each in enumerate(given, 1)]
    return [check_lines(given, name)]


def as_constraints(lines: int, **given: list[list[str]] | list[str]) -> list[tuple[str, list[str], list[str]]]:
    """Returns (prefix, required phrases, banned phrases) of each line, or for all lines; nothing if all are empty. Each of
    `given` has one element for all lines, or one for each."""
    if not any(any(each) for each in given.values()):
        return []
    for name, each in given.items():
        if len(each) not in (1, lines):
            raise InputError(f"{name}: found {len(each)}, expected one for each of {lines} lines")
    count = max(len(each) for each in given.values())
    return list(zip(*(each * count if len(each) == 1 else each for each in given.values()), strict=True))


def as_glossary(
    glossary: str | os.PathLike[str] | Mapping[str, str | Iterable[str]],
) -> tuple[bytes, list[tuple[str, list[str]]]]:
    """Returns (path of a file, terms with their translations)."""
    if isinstance(glossary, (str, os.PathLike)):
        return os.fsencode(glossary), []
    if not isinstance(glossary, Mapping):
        raise TypeError(f"glossary: found {type(glossary).__name__}, expected the path of a file or a dict")
    terms = check_lines(glossary, "glossary")
    return b"", [
        (term, check_lines([each] if isinstance(each, str) else each, f"glossary: `{term}`"))
        for term, each in zip(terms, glossary.values(), strict=True)
    ]


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
