"""What data diversification is worth, on the validation pair: BLEU during both trainings, length normalisation, and how
many translations of the teachers are references."""

import csv

import pages
from project import ROOT, machine
from trainings import DIVERSE, TRANSFORMER, VALIDATION, evaluate

STUDENT = DIVERSE[0]
STEPS = (2000, 4000, 6000, 8000, 12000, 16000)
ALPHAS = (1, 2, 3)


def curve(run):
    """Returns the validation BLEU by step."""
    with open(run / "validations.tsv", encoding="utf-8") as file:
        bleu = {int(row["step"]): float(row["bleu"]) for row in csv.DictReader(file, delimiter="\t")}
    return [bleu[step] for step in STEPS]


def lines(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def share_of_references(made, references):
    """Returns the share of synthetic pairs that are true pairs."""
    pairs = list(zip(*map(lines, made.files)))
    return sum(pair in references for pair in pairs) / len(pairs)


def measure(runs):
    """Returns the figures of both trainings, whose runs must be on this machine."""
    best = ROOT / runs / STUDENT.name
    references = set(zip(lines("data/multi30k/train.en"), lines("data/multi30k/train.de")))
    return {
        "recipe": STUDENT.recipe,
        "machine": machine(),
        "curves": {t.name: curve(ROOT / runs / t.name) for t in (TRANSFORMER, STUDENT)},
        "alphas": [
            evaluate([best], VALIDATION, "en", "de", "--beam-alpha", alpha)["bleu"]["score"] for alpha in ALPHAS
        ],
        "references": {
            teacher.name: share_of_references(made, references)
            for teacher, made in zip(STUDENT.teachers, STUDENT.synthetic(runs))
        },
    }


def tables(figures):
    """Returns the parts of the page, by name."""
    found = figures.of(STUDENT.recipe, "diversification")
    if not found:
        return dict.fromkeys(("diversification", "diversification_length", "diversification_pairs"), "No figures yet.\n")
    curves = [[f"`{name}`", *(f"{bleu:.1f}" for bleu in row)] for name, row in found["curves"].items()]
    alphas = [["validation BLEU", *(f"{bleu:.2f}" for bleu in found["alphas"])]]
    shares = [[f"`{name}`", f"{100 * share:.0f} %"] for name, share in found["references"].items()]
    return {
        "diversification": pages.table(["validation BLEU (greedy search) at step", *(f"{s:,}" for s in STEPS)], curves),
        "diversification_length": pages.table(["`beam_alpha`", *ALPHAS], alphas)
        + f"\nMachine: {found['machine']}.\n",
        "diversification_pairs": pages.table(["translations by", "equal to the pair"], shares),
    }
