"""Compares the figures of README.md with the pages that have them: scripts/checks/readme_numbers.py [--write]. With --write,
README gets the figures of the pages. Each place is a pattern with one group for each figure, here and there.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"(\d+(?:\.\d+)?)"
MEANS = r"Mean of two seeds, BLEU of test 2016:.*`{}` " + NUMBER
BEST = r"\| {} \| {} \|(?: [^|]*\|){{4}} \*\*" + NUMBER


def mean(recipe):
    return ("docs/results.md", MEANS.format(recipe))


def test(direction, recipe):
    return ("docs/results.md", BEST.format(direction, recipe))


# The place in README, the page and the place there.
FIGURES = [
    (rf"`configs/quickstart.yaml` \| {NUMBER}", "docs/length_study.md", rf"BLEU {NUMBER} with attention"),
    (rf"`configs/quickstart_fixed_context.yaml` \| {NUMBER}", "docs/length_study.md", rf"{NUMBER} with one fixed context"),
    (rf"English–German \| `configs/multi30k_best.yaml` \| {NUMBER} \|", *mean("multi30k_best")),
    (rf"parameters; mean of two seeds, together {NUMBER} \|", *test("en→de", "two seeds of multi30k_best")),
    (rf"English–French \| the same \| {NUMBER} \| mean of two seeds \|", *mean("multi30k_best_french")),
    (rf"German–English \| the same \| {NUMBER} ", *test("de→en", "multi30k_best")),
    (rf"`configs/multi30k_transformer_diverse.yaml` \| {NUMBER}", *mean("multi30k_transformer_diverse")),
    (rf"data-diversification\)\); mean of two seeds, together {NUMBER}",
     *test("en→de", "two seeds of multi30k_transformer_diverse")),
    (rf"`configs/multi30k_transformer_best.yaml` \| {NUMBER}", *test("en→de", "multi30k_transformer_best")),
    (rf"English–German \| `configs/multi30k.yaml` \| {NUMBER}", *mean("multi30k")),
    (rf"`configs/multi30k_fixed_context.yaml` \| {NUMBER}", *test("en→de", "multi30k_fixed_context")),
    (rf"takes half of the steps \({NUMBER} BLEU\s+after {NUMBER} minutes", "docs/performance.md",
     rf"`configs/multi30k_fast.yaml` from raw text(?:.|\n)*?as `best`: \*\*{NUMBER}\*\* after {NUMBER} minutes"),
    (rf"`configs/multi30k_transformer_fast.yaml`\s+\({NUMBER} after {NUMBER} minutes", "docs/performance.md",
     rf"`configs/multi30k_transformer_fast.yaml` from raw text(?:.|\n)*?as `best`: \*\*{NUMBER}\*\* after {NUMBER} minutes"),
    (rf"regard processed {NUMBER} times as many tokens a\s+second as JoeyNMT", "docs/performance.md",
     rf"\| JoeyNMT [^|]*\| \d+ \| {NUMBER} \|"),
    (rf"and {NUMBER} times as many as OpenNMT-py", "docs/performance.md", rf"\| OpenNMT-py [^|]*\| \d+ \| {NUMBER} \|"),
    (rf"batches of 80 sentences\) takes {NUMBER} MB", "docs/performance.md",
     rf"{NUMBER} MB at the end, with validation and saving"),
]  # fmt: skip


def figures_of(page, pattern, text):
    """Returns the spans and the figures of the first place."""
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"{page}: found no place for the pattern {pattern}")
    return [(found.span(i), found[i]) for i in range(1, found.re.groups + 1)]


def rounded(figure, like):
    decimals = len(like.partition(".")[2])
    return f"{float(figure):.{decimals}f}"


def main():
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    stale = []
    for here, page, there in FIGURES:
        wanted = figures_of(page, there, (ROOT / page).read_text(encoding="utf-8"))
        for ((begin, end), found), (_, figure) in reversed(list(zip(figures_of("README.md", here, text), wanted))):
            if found != rounded(figure, found):
                stale.append(f"README.md: found {found}, but {page} has {figure}")
                text = text[:begin] + rounded(figure, found) + text[end:]
    if "--write" in sys.argv:
        readme.write_text(text, encoding="utf-8")
    print("\n".join([*stale, f"{len(FIGURES)} places compared, {len(stale)} figures differ"]))
    if stale and "--write" not in sys.argv:
        sys.exit(1)


main()
