"""Writes the figures of docs/performance.md, docs/cuda.md and docs/decoding.md. Their prose is written by hand."""

import pages
from project import ROOT, warn


def page_of(verb):
    return {"gpu": "cuda.md", "shortlist": "decoding.md"}.get(verb, "performance.md")


def write(report):
    """Writes each section. A skipped benchmark keeps its old section."""
    sections = {}
    for verb, markdown in report.sections.items():
        if "skipped" not in report.all_figures[verb]:
            sections.setdefault(page_of(verb), {})[f"bench {verb}"] = markdown
    for page, parts in sections.items():
        pages.put(ROOT / "docs" / page, parts)
        warn(f"written: docs/{page}")
