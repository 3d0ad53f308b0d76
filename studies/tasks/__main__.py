"""Trains models on public tasks with published figures, and writes docs/tasks.md.

The tasks are those of scripts/fetch_tasks.sh. A cell is one system on one task with one seed. Recipes are chosen on the
validation texts; the test texts are read once, for the tables. Cells are stored and resumed.
"""

import dataclasses
import json
import statistics

import project
from benchmarks import DATA, benchmarks
from cells import Cell, Study, effort, parser_of, results_table
from fetch import TASKS
from project import INPUT_ERROR, ROOT, Failure, names_in


def scores_of(benchmark):
    """Returns a function that scores the texts of a cell: exact match, phone error rate and BLEU of the tokens."""

    def scores(cell, *options):
        found = {}
        for part in benchmark.parts:
            stem = cell.task.dev if part == "dev" else cell.task.test.removesuffix("test") + part
            metrics = ("--metrics", "exact,per,bleu", "--tokenize", "none", "--force")
            by_kind = ROOT / f"{stem}.type"
            if by_kind.is_file():
                metrics += ("--by", by_kind)
            score = cell.score(f"{stem}.src", f"{stem}.trg", *metrics, *options)
            found[part] = {metric: score[metric]["score"] for metric in ("exact", "per", "bleu")}
            if by_kind.is_file():
                found[part]["by"] = {row["label"]: row["exact"] for row in score["by_label"]}
        return found

    return scores


def cells_of(study, benchmark):
    """Returns the cells by system, task and seed, in the order in which they are trained: a table for each seed."""
    return {
        (system.name, task.name, seed): Cell(
            study,
            system,
            dataclasses.replace(task, name=f"{task.name}-{seed}", seed=seed),
            (scores_of(benchmark), effort),
        )
        for seed in benchmark.seeds
        for system in benchmark.systems
        for task in benchmark.tasks
    }


def value(cells, system, column, seed):
    """Returns the figure of a column for one seed, or None if a task of the column is not done."""
    part, metric = column.figure.split(".")
    results = [cells[system, name, seed].result() for name in column.tasks]
    if not all(results):
        return None
    mean = statistics.mean(result[part][metric] for result in results)
    return 100 - mean if column.error else mean


def mean_and_deviation(values):
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return f"{values[0]:.2f}" if values else "–"
    return f"{statistics.mean(values):.2f} ± {statistics.stdev(values):.2f}"


def results_of(benchmark, cells):
    """Returns the table of a benchmark: published figures, then those of regard."""
    heads = [column.head for column in benchmark.columns]
    rows = [
        [name, *(figures.get(head, "–") for head in heads), "–", "–", "–", address]
        for name, figures, address in benchmark.published
    ]
    for system in benchmark.systems:
        done = [cell.result() for key, cell in cells.items() if key[0] == system.name and cell.result()]
        if not done:
            continue
        figures = [
            mean_and_deviation([value(cells, system.name, column, seed) for seed in benchmark.seeds])
            for column in benchmark.columns
        ]
        seeds = len(done) / len(benchmark.tasks)
        minutes = statistics.mean(result["minutes"] for result in done)
        parameters = statistics.mean(result["parameters"] for result in done)
        rows.append([
            f"**{system.remark}** (`{system.name}`)", *figures, f"{seeds:.1f}".removesuffix(".0"), f"{minutes:.1f}",
            f"{parameters / 1e6:.2f}", "",
        ])  # fmt: skip
    head = ["system", *heads, "seeds", "minutes each", "million parameters", "from"]
    return results_table(head, rows, [cell.result() for cell in cells.values()])


def kinds_of(cells):
    """Returns the exact matches of the generalisation set of cogs by kind, the mean of the seeds."""
    found = {}
    for (system, *_), cell in cells.items():
        if cell.result():
            found.setdefault(system, []).append(cell.result()["gen"]["by"])
    if not found:
        return None
    kinds = sorted({kind for results in found.values() for by in results for kind in by})
    rows = [
        [kind.replace("_", " "), *(f"{statistics.mean(by[kind] for by in results):.1f}" for results in found.values())]
        for kind in kinds
    ]
    results = [cell.result() for cell in cells.values()]
    return results_table(["kind of sentence", *(f"`{system}`" for system in found)], rows, results)


def main():
    parser = parser_of("tasks", __doc__)
    parser.add_argument("--benchmarks", default="", help=f"some of: {','.join(TASKS)}")
    options = parser.parse_args()
    study = Study(options, "tasks")
    wanted = names_in(options.benchmarks, list(TASKS), "benchmark")
    for name in TASKS:
        if not (ROOT / DATA / name).is_dir():
            raise Failure(INPUT_ERROR, f"found no {DATA}/{name}; run scripts/fetch_tasks.sh")
    parts, every = {}, []
    for benchmark in benchmarks(study):
        cells = cells_of(study, benchmark)
        if benchmark.name in wanted:
            study.fill(study.selected(list(cells.values())))
        parts[benchmark.name] = results_of(benchmark, cells)
        if benchmark.name == "cogs":
            parts["cogs kinds"] = kinds_of(cells)
        every += cells.values()
    study.write(parts, every)


project.run(main)
