#!/usr/bin/env python3
"""Checks that every table of figures in docs/ says when and with which commit it was measured, and lists the tables
whose code has changed since: scripts/checks/figure_origins.py [--stale]. The lines are those of modules/pages.py. A table of
numbers that are not measured has the line <!-- not measured --> above it.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "modules"))

from pages import PLACE, WITHOUT_FIGURES, origins, table  # noqa: E402

NUMBER = re.compile(r"[\d,.~≈±<>≤ %()×–-]*\d[\d,.±%()×–-]*( \w+)?")
TABLE = re.compile(r"(?:^\|.*\n)+", re.M)
QUALITY = ("src/model", "src/training", "src/optim", "src/decoding", "src/data", "src/text")
SPEED = ("src/kernels", *QUALITY)
# The code on which the figures of a page depend; of other pages, QUALITY.
CODE = {
    "performance.md": SPEED,
    "cuda.md": SPEED,
    "training.md": SPEED,
    "scaling.md": ("src/training", "src/kernels"),
    "serving.md": ("src/serve", "src/translation", "src/decoding", "src/kernels"),
    "deployment.md": ("Dockerfile", "src/serve", "CMakeLists.txt"),
    "export.md": ("python/regard/exporters", "src/decoding", "src/kernels"),
    "reliability.md": ("src", "tests/fuzz"),
    "pointer.md": (*QUALITY, "tools/corpus_generator"),
}


def git(*words):
    done = subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def has_figures(rows):
    """True if a third of the cells behind the first column are numbers."""
    cells = [cell.strip() for row in rows.splitlines()[2:] for cell in row.strip("|").split("|")[1:]]
    return bool(cells) and 3 * sum(bool(NUMBER.fullmatch(cell)) for cell in cells) > len(cells)


def figures_of(page):
    """Yields the name and the text of each place with figures. Text outside of marks ends at the next heading."""
    text = page.read_text(encoding="utf-8")
    for place in PLACE.finditer(text):
        if place[2] not in WITHOUT_FIGURES:
            yield place[2], place[3]
    rest = PLACE.sub("", text)
    for found in TABLE.finditer(rest):
        marked = rest[: found.start()].rstrip().endswith("<!-- not measured -->")
        if has_figures(found[0]) and not marked:
            heading = re.search(r"^#", rest[found.end() :], re.M)
            end = found.end() + heading.start() if heading else len(rest)
            line = text.count("\n", 0, text.find(found[0])) + 1
            yield f"line {line}", rest[found.start() : end]


def main():
    faults, stale = [], []
    has_history = (git("rev-parse", "--is-shallow-repository") or "").strip() == "false"
    for page in sorted((ROOT / "docs").glob("*.md")):
        for name, text in figures_of(page):
            known = origins(text)
            if not text.strip():
                continue  # nothing is measured yet
            if not known:
                faults.append(f"docs/{page.name}: {name}: found no line `Measured on DATE with regard COMMIT.`")
                continue
            commits = [commit.removesuffix("-dirty") for _, commit in known]
            if not has_history:
                continue
            for commit in commits:
                if git("cat-file", "-e", f"{commit}^{{commit}}") is None:
                    faults.append(f"docs/{page.name}: {name}: found no commit {commit}")
            if "--stale" in sys.argv:
                changes = git("diff", "--numstat", commits[0], "HEAD", "--", *CODE.get(page.name, QUALITY)) or ""
                lines = sum(int(line.split("\t")[0].replace("-", "0")) for line in changes.splitlines())
                stale.append((lines, page.name, name, known[0][0], commits[0]))
    if stale:
        rows = [(page, name, date, commit, f"{lines:,}") for lines, page, name, date, commit in sorted(stale)[::-1]]
        print(table(["page", "figures", "since", "commit", "lines of their code since"], rows), end="")
    if faults:
        sys.exit("\n".join(faults))


main()
