"""Compares training in bf16 with training in fp32: two recipes, two seeds each, scored on the validation pair."""

import statistics

import pages
from cells import machines
from trainings import Compared, seed

PRECISIONS = ("fp32", "bf16")
SEEDS = (42, 43)
# The first two fifths of both fast recipes.
RECIPES = {"multi30k_fast": 2400, "multi30k_transformer_fast": 1600}


def trainings(study):
    """Returns the trainings by recipe, precision and seed."""
    return {
        (config, precision, number): Compared(
            study,
            f"precision/{config}_{number}_{precision}",
            config,
            own=(f"training.max_steps={steps}", seed(number), f"training.precision={precision}"),
        )
        for config, steps in RECIPES.items()
        for precision in PRECISIONS
        for number in SEEDS
    }


def table(trainings):
    """Returns the table of the trainings, or None if they are not all measured."""
    found = {key: training.result() for key, training in trainings.items()}
    if not all(found.values()):
        return None
    rows = []
    for config, steps in RECIPES.items():
        for precision in PRECISIONS:
            results = [found[config, precision, number] for number in SEEDS]
            bleu = [row["bleu"] for row in results]
            rows.append([
                f"`{config}`, {steps:,} steps", precision, *(f"{value:.2f}" for value in bleu),
                f"**{statistics.mean(bleu):.2f}**", *(f"{row['loss']:.4f}" for row in results),
            ])  # fmt: skip
    head = ["recipe", "precision", *(f"BLEU, seed {n}" for n in SEEDS), "mean BLEU", *(f"loss, seed {n}" for n in SEEDS)]
    return pages.table(head, rows) + f"\nMachine: {machines(found.values())}.\n"
