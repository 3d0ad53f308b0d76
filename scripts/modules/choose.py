"""Runs a program of a folder by its name: choose.py COMMAND FOLDER [NAME [ARGUMENT…]]. Without a NAME, lists the programs
with the first sentence that each says of itself. COMMAND is what the user typed.
"""

import ast
import difflib
import os
import pathlib
import re
import sys
import textwrap

from project import USAGE_ERROR


def programs(folder):
    """Returns the programs of the folder by name: NAME.sh, NAME.py, NAME/__main__.py."""
    found = [*folder.glob("*.sh"), *folder.glob("*.py"), *folder.glob("*/__main__.py")]
    return {path.parent.name if path.name == "__main__.py" else path.stem: path for path in sorted(found)}


def summary(path):
    """Returns the first sentence of the comment that opens the program."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        words = ast.get_docstring(ast.parse(text)) or ""
    else:
        words = re.sub(r"^# ?", "", re.match(r"#!.*\n((?:#.*\n)*)", text)[1], flags=re.M)
    return re.split(r"(?<=[.:])\s", " ".join(words.split()))[0].rstrip(".:")


def main():
    command, folder, *rest = sys.argv[1:]
    known = programs(pathlib.Path(folder))
    if not rest or rest[0] in ("-h", "--help"):
        print(f"usage: {command} NAME [ARGUMENT…]\n       {command} NAME --help\n")
        for name, path in known.items():
            lines = textwrap.wrap(summary(path), 96)
            print(f"  {name:18}" + ("\n" + 20 * " ").join(lines))
        return
    name, *arguments = rest
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        suggestion = f"; did you mean `{near[0]}`?" if near else f"; {command} lists the names"
        print(f"{command}: unknown name `{name}`{suggestion}", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    path = known[name]
    program = [str(path)] if path.suffix == ".sh" else [sys.executable, str(path)]
    os.execv(program[0], [*program, *arguments])


main()
