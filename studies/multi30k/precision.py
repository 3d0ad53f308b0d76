"""Compares training in bf16 with training in fp32: two recipes, two seeds each, scored on the validation pair."""

import csv
import json
import statistics

import pages
from project import ROOT, machine, read
from trainings import Training, seed

PRECISIONS = ("fp32", "bf16")
SEEDS = (42, 43)
# The first two fifths of both fast recipes.
RECIPES = {"multi30k_fast": 2400, "multi30k_transformer_fast": 1600}


def training(config, steps, number, precision):
    settings = (f"training.max_steps={steps}", seed(number), f"training.precision={precision}")
    return Training(f"precision/{config}_{number}_{precision}", config, settings=settings)


def trainings():
    return [
        training(config, steps, number, precision)
        for config, steps in RECIPES.items()
        for number in SEEDS
        for precision in PRECISIONS
    ]


def score(of, runs):
    """Returns the figures of a trained run, from its own validations."""
    run = ROOT / runs / of.name
    with open(run / "validations.tsv", encoding="utf-8") as file:
        last = list(csv.DictReader(file, delimiter="\t"))[-1]
    manifest = json.loads(read(run / "manifest.json"))
    return {
        "recipe": of.recipe,
        "machine": machine(),
        "threads": manifest["threads"],
        "step": int(last["step"]),
        "bleu": float(last["bleu"]),
        "chrf": float(last["chrf"]),
        "loss": float(last["loss"]),
    }


def table(figures):
    """Returns the table of the trainings that were measured."""
    rows, machines = [], set()
    for config, steps in RECIPES.items():
        found = {
            precision: [training(config, steps, n, precision).row(figures) for n in SEEDS] for precision in PRECISIONS
        }
        if not all(all(rows_of) for rows_of in found.values()):
            continue
        for precision, rows_of in found.items():
            machines |= {row["machine"] for row in rows_of}
            bleu = [row["bleu"] for row in rows_of]
            rows.append([
                f"`{config}`, {steps:,} steps", precision, *(f"{value:.2f}" for value in bleu),
                f"**{statistics.mean(bleu):.2f}**", *(f"{row['loss']:.4f}" for row in rows_of),
            ])  # fmt: skip
    if not rows:
        return ""
    head = ["recipe", "precision", *(f"BLEU, seed {n}" for n in SEEDS), "mean BLEU", *(f"loss, seed {n}" for n in SEEDS)]
    return pages.table(head, rows) + f"\nMachine: {'; '.join(sorted(machines))}.\n"
