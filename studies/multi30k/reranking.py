"""Why reranking gains on the validation pair and not on the test: precisions before and after, and lengths of the texts."""

import pages
from project import ROOT, read
from trainings import TEST, TEST_2017, TRAIN, VALIDATION

TEXTS = {"training data": TRAIN, "validation pair": VALIDATION, "test 2016": TEST, "test 2017": TEST_2017}


def words(path):
    return len(read(ROOT / path).split())


def tables(reranked):
    """Returns the parts of the page, by name."""
    found = reranked.result()
    if not found:
        return {}
    rows = []
    for label in ("before", "after"):
        row = found["validation"][label]
        precisions = (f"{precision:.1f}" for precision in row["precisions"])
        rows.append([f"{label} tuning", f"{row['score']:.2f}", *precisions, f"{row['brevity_penalty']:.3f}"])
    head = ["validation pair", "BLEU", *(f"{n}-gram precision" for n in range(1, 5)), "brevity penalty"]
    ratios = (words(f"{stem}.{reranked.language}") / words(f"{stem}.{reranked.source}") for stem in TEXTS.values())
    return {
        "reranking": pages.table(head, rows),
        "reranking_lengths": pages.table(
            ["", *TEXTS], [["words of German for each of English", *(f"{ratio:.3f}" for ratio in ratios)]]
        ),
    }
