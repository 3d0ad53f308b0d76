"""Why reranking gains on the validation pair and not on the test: precisions and lengths before and after."""

import pathlib
import tempfile

import pages
from project import ROOT, machine, read, regard
from trainings import RERANKED, TEST, TEST_2017, TRAIN, VALIDATION, scores_of

TEXTS = {"training data": TRAIN, "validation pair": VALIDATION, "test 2016": TEST, "test 2017": TEST_2017}


def words(path):
    return len(read(ROOT / path).split())


def measure(runs):
    """Returns the figures of the validation pair, whose models must be on this machine."""
    source, target = RERANKED.source, RERANKED.language
    with tempfile.TemporaryDirectory() as name:
        weights, chosen = (pathlib.Path(name) / part for part in ("weights", "chosen"))
        best = RERANKED.rerank(runs, VALIDATION, weights, "--tune", "-r", f"{VALIDATION}.{target}")
        scores = {}
        tuned = ("--weights", weights, "--reverse", *RERANKED.reverse_models(runs))
        for label, choice in {"before": ("--weight", "score=1"), "after": tuned}.items():
            regard("rerank", "-s", f"{VALIDATION}.{source}", "-i", best, *choice, "-o", chosen)
            scores[label] = scores_of(chosen, VALIDATION, target)["bleu"]
    ratios = {label: words(f"{stem}.{target}") / words(f"{stem}.{source}") for label, stem in TEXTS.items()}
    return {"recipe": RERANKED.recipe, "machine": machine(), "scores": scores, "ratios": ratios}


def tables(figures):
    """Returns the parts of the page, by name."""
    found = figures.of(RERANKED.recipe, "reranking")
    if not found:
        return dict.fromkeys(("reranking", "reranking_lengths"), "No figures yet.\n")
    rows = []
    for label in ("before", "after"):
        row = found["scores"][label]
        precisions = (f"{precision:.1f}" for precision in row["precisions"])
        rows.append([f"{label} tuning", f"{row['score']:.2f}", *precisions, f"{row['brevity_penalty']:.3f}"])
    head = ["validation pair", "BLEU", *(f"{n}-gram precision" for n in range(1, 5)), "brevity penalty"]
    return {
        "reranking": pages.table(head, rows),
        "reranking_lengths": pages.table(
            ["", *TEXTS],
            [["words of German for each of English", *(f"{found['ratios'][text]:.3f}" for text in TEXTS)]],
        )
        + f"\nMachine: {found['machine']}.\n",
    }
