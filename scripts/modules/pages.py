"""Writes figures into pages of docs/, between two marks. The prose around them is written by hand."""

import re

from project import ENVIRONMENT_ERROR, Failure


def table(head, rows):
    """Returns a Markdown table: first column left-aligned, other columns right-aligned."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def put(page, parts):
    """Writes each part (name to Markdown) between <!-- NAME --> and <!-- end -->."""
    text = page.read_text(encoding="utf-8")
    for name, markdown in parts.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise Failure(ENVIRONMENT_ERROR, f"{page}: found no mark <!-- {name} -->")
        text = place.sub(lambda m, body=markdown: m[1] + body + m[2], text, count=1)
    page.write_text(text, encoding="utf-8")
