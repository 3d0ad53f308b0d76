#!/usr/bin/env bash
# Every relative link of a Markdown file leads to a file, and to a heading if it names one. $1 is the source folder.
set -euo pipefail

cd "$1"
exec python3 - <<'PYTHON'
import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchor(heading):
    """Returns the anchor that web pages of repositories give to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def text_of(path):
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors_of(path):
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)}


pages = [path for folder in (".", "docs", "data", "examples", "scripts", "studies", "tests")
         for path in (pathlib.Path(folder).glob("*.md") if folder == "." else pathlib.Path(folder).rglob("*.md"))]
faults, checked = [], 0
for page in pages:
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"[a-z]+:", link):
            continue
        checked += 1
        target, _, heading = link.partition("#")
        file = page.parent / target if target else page
        if not file.exists():
            faults.append(f"{page}: {link}: no such file")
        elif heading and file.suffix == ".md" and heading not in anchors_of(file):
            faults.append(f"{page}: {link}: no such heading")
print(f"{checked} relative links in {len(pages)} pages, {len(faults)} dead", *faults, sep="\n")
sys.exit(1 if faults or not checked else 0)
PYTHON
