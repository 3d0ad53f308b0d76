"""Writes figures into pages of docs/, between two marks. The prose around them is written by hand. The last line
between the marks says when and with which commit the figures were measured."""

import datetime
import functools
import re
import subprocess

from project import ENVIRONMENT_ERROR, ROOT, Failure

ORIGIN = re.compile(
    r"Measured (?:on|from) (\d{4}-\d\d-\d\d)(?: to (\d{4}-\d\d-\d\d))? "
    r"with regard ([0-9a-f]{7,}(?:-dirty)?)(?: to ([0-9a-f]{7,}(?:-dirty)?))?\.\n"
)
PLACE = re.compile(r"^(<!-- ((?!not measured)[a-z][\w -]*) -->\n)(.*?)(<!-- end -->)", re.S | re.M)
WITHOUT_FIGURES = ("commands", "checks")  # checks have a date in each row


@functools.cache  # before a page is written, which would make it dirty
def commit():
    """Returns the short name of the checked out commit, with -dirty if files outside of docs/ differ from it."""

    name = git("rev-parse", "--short", "HEAD")
    if name.returncode != 0:
        return "0000000"
    is_dirty = git("diff", "--quiet", "HEAD", "--", ".", ":(exclude)docs").returncode != 0
    return name.stdout.strip() + "-dirty" * is_dirty


def git(*arguments):
    return subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=False)


def in_order(origins):
    """Returns (date, commit) sorted by date, and commits of one day from the oldest to the newest."""
    newest_first = git("log", "--format=%H").stdout.split()

    def age(name):
        short = name.removesuffix("-dirty")
        return next((i for i, commit in enumerate(newest_first) if commit.startswith(short)), len(newest_first))

    return sorted(origins, key=lambda origin: (origin[0], -age(origin[1])))


def today():
    return datetime.date.today().isoformat()


def origin_line(first, last):
    """Returns the line for the oldest and the newest figures, each (date, commit)."""
    dates = f"on {first[0]}" if first[0] == last[0] else f"from {first[0]} to {last[0]}"
    commits = first[1] if first[1] == last[1] else f"{first[1]} to {last[1]}"
    return f"Measured {dates} with regard {commits}.\n"


def origins(text):
    """Returns the first and the last (date, commit) of figures between two marks, or None."""
    found = ORIGIN.search(text)
    return found and ((found[1], found[3]), (found[2] or found[1], found[4] or found[3]))


def with_origin(body, before):
    """Returns the new figures with the line of their origin, if they have none. `before`: the old figures with theirs."""
    if ORIGIN.search(body):
        return body
    old, known = ORIGIN.sub("", before), origins(before)
    now = (today(), commit())
    heads = set(re.findall(r"(.*)\n\| ---", old))  # they may have digits, as in fp32
    lines = {line for line in old.splitlines() if line.startswith("|") and re.search(r"\d", line)} - heads
    if known and numbers(body) == numbers(old):
        first, last = known
    elif known and any(line in lines for line in body.splitlines()):
        first, last = known[0], now
    else:
        first = last = now
    return f"{body.rstrip()}\n\n{origin_line(first, last)}" + "\n" * body.startswith("\n")


def numbers(text):
    return re.findall(r"\d[\d.,]*", text)


def table(head, rows):
    """Returns a Markdown table: first column left-aligned, other columns right-aligned."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def with_interval(score):
    """Returns a score of regard evaluate --confidence as 12.34 ± 0.56."""
    return f"{score['score']:.2f} ± {score['confidence']['half_width']:.2f}"


def put(page, parts):
    """Writes each part (name to Markdown) between <!-- NAME --> and <!-- end -->, and the line of its origin."""
    text = page.read_text(encoding="utf-8")
    for name, markdown in parts.items():
        found = next((place for place in PLACE.finditer(text) if place[2] == name), None)
        if not found:
            raise Failure(ENVIRONMENT_ERROR, f"{page}: found no mark <!-- {name} -->")
        begin, end = found.span(3)
        body = markdown if name in WITHOUT_FIGURES else with_origin(markdown, found[3])
        text = text[:begin] + body + text[end:]
    page.write_text(text, encoding="utf-8")


def record_check(name, result):
    """Writes the last run of a check that CI does not run into docs/reliability.md. `name`: behind scripts/check.sh."""
    page = ROOT / "docs" / "reliability.md"
    text = page.read_text(encoding="utf-8")
    found = next(place for place in PLACE.finditer(text) if place[2] == "checks")
    rows = [line.split(" | ") for line in found[3].splitlines() if line.startswith("| `")]
    cells = {row[0].removeprefix("| "): [cell.removesuffix(" |") for cell in row[1:]] for row in rows}
    cells[f"`scripts/check.sh {name}`"] = [result, today(), commit()]
    put(page, {"checks": table(["check", "result", "date", "commit"], [[key, *row] for key, row in sorted(cells.items())])})
