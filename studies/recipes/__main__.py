"""Trains what `regard config init` proposes for little text, and writes docs/own_language_pair.md.

German to English translators are trained on 1,000 and 5,000 pairs of Multi30k, with the proposals for a
recurrent model and for a Transformer. Nothing is tuned. The better one on the validation pair should be the proposal
that `config init` makes by itself. Stopped trainings are resumed, and finished ones are skipped.
"""

import csv
import dataclasses
import os

import project
from cells import Cell, System, fill, machines, multi30k, parser_of, write_first_pairs
from figures import Figures
from pages import put, table
from project import ROOT, names_in, need_multi30k, regard, warn

PAGE = ROOT / "docs" / "own_language_pair.md"
SIZES = (1000, 5000)
ARCHITECTURES = {"recurrent": "GRUs with attention", "transformer": "Transformer"}
ALL = multi30k("de", "en", 42)


def task_of(runs, pairs):
    stem = write_first_pairs(ALL, ROOT / runs / "data", pairs)
    return dataclasses.replace(ALL, name=str(pairs), train=os.path.relpath(stem, ROOT))


def system_of(runs, architecture, task):
    """Writes the proposed configuration, and returns its system."""
    config = f"{runs}/{architecture}_{task.name}.yaml"
    (ROOT / config).unlink(missing_ok=True)
    regard("config", "init", *task.data("train"), "--dev", *task.data("dev"), "--architecture", architecture,
           "--name", f"{architecture}_{task.name}", "--yes", "-o", config)  # fmt: skip
    return System(architecture, (), config=config)


def steps(cell, *_):
    with open(cell.run / "validations.tsv", encoding="utf-8") as file:
        return {"steps": int(list(csv.DictReader(file, delimiter="\t"))[-1]["step"])}


def results_table(cells):
    rows = []
    for (architecture, pairs), cell in cells.items():
        result = cell.result()
        if not result:
            continue
        rows.append([
            f"{pairs:,} pairs, {ARCHITECTURES[architecture]}", f"{result['parameters']:,}", f"{result['steps']:,}",
            f"{result['dev']['bleu']:.1f}", f"{result['bleu']:.1f}", f"{result['chrf']:.1f}",
        ])  # fmt: skip
    if not rows:
        return "No figures yet.\n"
    head = ["text and model", "parameters", "steps", "validation BLEU", "BLEU of test 2016", "chrF2"]
    return table(head, rows) + f"\nTrained: {machines(cell.result() for cell in cells.values())}.\n"


def main():
    options = parser_of("recipes", __doc__, "runs/recipes").parse_args()
    need_multi30k("train.de", "train.en", "val.de", "val.en")
    figures = Figures(ROOT / "docs" / "results" / "recipes.json")
    tasks = {str(pairs): task_of(options.runs, pairs) for pairs in SIZES}
    cells = {
        (name, int(pairs)): Cell(
            ROOT / options.runs, figures, system_of(options.runs, name, task), task, (steps,)
        )
        for pairs, task in tasks.items()
        for name in ARCHITECTURES
    }
    wanted = names_in(options.only, list(ARCHITECTURES), "system")
    sizes = names_in(options.tasks, list(tasks), "number of pairs")
    if not options.table:
        fill([cell for (name, pairs), cell in cells.items() if name in wanted and str(pairs) in sizes], options)
    put(PAGE, {"recipes": results_table(cells)})
    done = sum(cell.result() is not None for cell in cells.values())
    warn(f"written: docs/own_language_pair.md, {done} of {len(cells)} cells")


project.run(main)
