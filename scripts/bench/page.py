"""docs/performance.md: the words are written by hand, every figure comes from here."""

import re

from report import ROOT, ENVIRONMENT_ERROR, Failure, warn

PAGE = ROOT / "docs" / "performance.md"


def write(report):
    """Puts each section between its two marks, <!-- bench VERB --> and <!-- end -->."""
    text = PAGE.read_text(encoding="utf-8")
    for verb, markdown in report.sections.items():
        if "skipped" in report.all_figures[verb]:
            continue  # what stands there is better than nothing
        place = re.compile(rf"(<!-- bench {verb} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise Failure(ENVIRONMENT_ERROR, f"{PAGE}: no place marked <!-- bench {verb} -->")
        text = place.sub(lambda m, body=markdown: m[1] + body + m[2], text, count=1)
    PAGE.write_text(text, encoding="utf-8")
    warn("written: docs/performance.md")
