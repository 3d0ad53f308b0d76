"""Pages of docs/: the words are written by hand, figures come between two marks from a program."""

import re

from project import ENVIRONMENT_ERROR, Failure


def table(head, rows):
    """Markdown; the first column to the left, figures to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def put(page, parts):
    """Each part, Markdown by name, between <!-- NAME --> and <!-- end -->."""
    text = page.read_text(encoding="utf-8")
    for name, markdown in parts.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise Failure(ENVIRONMENT_ERROR, f"{page}: no place marked <!-- {name} -->")
        text = place.sub(lambda m, body=markdown: m[1] + body + m[2], text, count=1)
    page.write_text(text, encoding="utf-8")
