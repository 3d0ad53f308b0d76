"""Writes the figures of docs/performance.md. Its prose is written by hand."""

import pages
from project import ROOT, warn


def write(report):
    """Writes each section. A skipped benchmark keeps its old section."""
    sections = {
        f"bench {verb}": markdown
        for verb, markdown in report.sections.items()
        if "skipped" not in report.all_figures[verb]
    }
    pages.put(ROOT / "docs" / "performance.md", sections)
    warn("written: docs/performance.md")
