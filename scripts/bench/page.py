"""docs/performance.md: the words are written by hand, every figure comes from here."""

import pages
from project import ROOT, warn


def write(report):
    """Each section; but what stands there is better than one that was skipped."""
    sections = {
        f"bench {verb}": markdown
        for verb, markdown in report.sections.items()
        if "skipped" not in report.all_figures[verb]
    }
    pages.put(ROOT / "docs" / "performance.md", sections)
    warn("written: docs/performance.md")
