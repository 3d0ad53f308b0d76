"""Writes the figures of docs/performance.md and other pages. Their prose is written by hand."""

import pages
from project import ROOT, warn


# The pages of benchmarks whose figures are not in docs/performance.md.
PAGES = {"corpus": "data.md", "decoding-steps": "attention.md", "gpu": "cuda.md", "shortlist": "decoding.md"}


def write(report):
    """Writes each section. A skipped benchmark keeps its old section."""
    sections = {}
    for verb, markdown in report.sections.items():
        if "skipped" not in report.all_figures[verb]:
            sections.setdefault(PAGES.get(verb, "performance.md"), {})[f"bench {verb}"] = markdown
    for page, parts in sections.items():
        pages.put(ROOT / "docs" / page, parts)
        warn(f"written: docs/{page}")
