"""Trains models on public tasks with published figures, and writes docs/tasks.md.

The tasks are those of scripts/fetch_tasks.sh. A cell is one system on one task with one seed. Recipes are chosen on the
validation texts; the test texts are read once, for the tables. Cells are stored and resumed.
"""

import dataclasses
import json
import statistics

import project
from benchmarks import DATA, benchmarks, with_link
from cells import Cell, Ensemble, Study, effort, parser_of, results_table
from fetch import TASKS, check
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
    measures = (scores_of(benchmark), effort)
    first = benchmark.seeds[0]
    wanted = [(system, task, seed) for seed in benchmark.seeds for system in benchmark.systems for task in benchmark.tasks]
    wanted += [(system, task, first) for system in benchmark.compared for task in benchmark.compared_on or benchmark.tasks]
    cells = {}
    for system, task, seed in wanted:
        of_seed = dataclasses.replace(task, name=f"{task.name}-{seed}", seed=seed)
        more = benchmark.adapted.get((system.name, task.name), ())
        adapted = dataclasses.replace(system, settings=(*system.settings, *more))
        cells[system.name, task.name, seed] = Cell(study, adapted, of_seed, measures)
    for system in benchmark.ensembles:
        name = ensemble_of(system)
        for task in benchmark.tasks:
            parts = [cells[system, task.name, seed] for seed in benchmark.seeds]
            cells[name, task.name, first] = Ensemble(name, task, parts, measures[:1])
    return cells


def ensemble_of(system):
    return f"{system}_ensemble"


def value(cells, system, column, seed):
    """Returns the figure of a column for one seed, or None if a task of the column is not done."""
    part, metric = column.figure.split(".")
    of_column = [cells.get((system, name, seed)) for name in column.tasks]
    results = [cell and cell.result() for cell in of_column]
    if not all(results):
        return None
    figures = [result[part][metric] for result in results]
    mean = statistics.mean(statistics.mean(f.values()) if metric == "by" else f for f in figures)
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
        [name, *(figures.get(head, "–") for head in heads), "–", "–", "–", with_link(origin)]
        for name, figures, origin in benchmark.published
    ]
    rows += [
        row_of(benchmark, cells, system.name, f"**{system.remark}** (`{system.name}`)")
        for system in (*benchmark.systems, *benchmark.compared)
    ]
    rows += [
        row_of(benchmark, cells, ensemble_of(system), f"**ensemble of {len(benchmark.seeds)} seeds of `{system}`**")
        for system in benchmark.ensembles
    ]
    head = ["system", *heads, "seeds", "minutes each", "million parameters", "from"]
    return results_table(head, [row for row in rows if row], [cell.result() for cell in cells.values()])


def row_of(benchmark, cells, system, label):
    """Returns the row of a system, or None if nothing of it is measured."""
    of_system = {key: cell.result() for key, cell in cells.items() if key[0] == system}
    done = [result for result in of_system.values() if result]
    if not done:
        return None
    of_columns = [[value(cells, system, column, seed) for seed in benchmark.seeds] for column in benchmark.columns]
    figures = map(mean_and_deviation, of_columns)
    counts = sorted({len(found) - found.count(None) for found in of_columns} - {0})
    minutes = [result["minutes"] for result in done if "minutes" in result]
    parameters = statistics.mean(result["parameters"] for result in done)
    return [
        label, *figures, "–".join(map(str, counts[:1] + counts[1:][-1:])) if minutes and counts else "–",
        f"{statistics.mean(minutes):.1f}" if minutes else "–", f"{parameters / 1e6:.2f}", "",
    ]  # fmt: skip


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
    parser.add_argument("--benchmarks", default="", help=f"some of: {','.join(TASKS)},cogs_rare")
    options = parser.parse_args()
    study = Study(options, "tasks")
    for name in TASKS:
        if not (ROOT / DATA / name).is_dir():
            raise Failure(INPUT_ERROR, f"found no {DATA}/{name}; run scripts/fetch_tasks.sh")
        check(name, ROOT / DATA / name, f"{DATA}/{name}")
    every_benchmark = benchmarks(study)
    wanted = names_in(options.benchmarks, [benchmark.name for benchmark in every_benchmark], "benchmark")
    parts, every = {}, []
    for benchmark in every_benchmark:
        cells = cells_of(study, benchmark)
        if benchmark.name in wanted:
            study.fill(study.selected(list(cells.values())))
        parts[benchmark.name] = results_of(benchmark, cells)
        if benchmark.name == "cogs":
            parts["cogs kinds"] = kinds_of(cells)
        every += cells.values()
    study.write(parts, every)


project.run(main)
