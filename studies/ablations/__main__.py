"""Trains variants of one small recipe that differ in one part, and writes docs/ablations.md.

A cell of the tables is one variant on one task; it takes one to three minutes on two cores. Its figures are stored in
docs/ablations/figures.json with a hash of its recipe. Finished cells whose recipe has not changed are skipped,
stopped ones are resumed.
"""

import project
from cells import BUNDLED, Cell, Study, machines, parser_of
from measures import MEASURES
from pages import table
from project import need_multi30k
from systems import COMPARED, PARTS, SYSTEMS, TASKS


class Grid:
    def __init__(self, cells):
        self.cells = {(cell.system.name, cell.task.name): cell for cell in cells}

    def result(self, system, task):
        """Returns the figures of a cell, or an empty object if it is not done."""
        return self.cells[system.name, task.name].result() or {}


def number(value, form="{:.1f}"):
    return "–" if value is None else form.format(value)


def parts(grid):
    text = ""
    head = ["system", "BLEU de→en", "chrF", "perplexity", "validation BLEU", "BLEU bundled", "parameters"]
    for title, systems in PARTS:
        rows = []
        for system in systems:
            german, bundled = (grid.result(system, task) for task in TASKS)
            if not german and not bundled:
                continue
            rows.append(
                [
                    f"`{system.name}`: {system.remark}",
                    number(german.get("bleu")),
                    number(german.get("chrf")),
                    number(german.get("perplexity"), "{:.2f}"),
                    number(german.get("dev", {}).get("bleu")),
                    number(bundled.get("bleu")),
                    number(german.get("parameters"), "{:,}"),
                ]
            )
        if rows:
            text += f"**{title}**\n\n{table(head, rows)}\n"
    return text


def bins_of(result):
    """Returns the label and BLEU of each length, joined sentences after single ones."""
    words = {"1": "", "2": " (two joined)", "3": " (three joined)"}
    found = []
    for count, bins in result.get("joined", {}).items():
        for b in bins:
            length = f"{b['shortest']}–{b['longest']}" if b["longest"] else f"{b['shortest']}+"
            found.append((length + words[count], b["sentences"], b["bleu"]))
    return found


def lengths(grid):
    compared = [system for system in SYSTEMS if system.name in COMPARED]
    results = [grid.result(system, TASKS[0]) for system in compared]
    done = [(system, bins_of(result)) for system, result in zip(compared, results) if result]
    if not done:
        return ""
    labels = [(label, count) for label, count, _ in done[0][1] if count >= 10]
    rows = []
    for label, count in labels:
        bleu = [next((b for name, _, b in bins if name == label), None) for _, bins in done]
        rows.append([label, count, *(number(b) for b in bleu)])
    return table(["words", "sentences"] + [f"`{system.name}`" for system, _ in done], rows)


def agreement(grid):
    compared = [system for system in SYSTEMS if system.name in COMPARED]
    done = [(s, grid.result(s, BUNDLED)["agreement"]) for s in compared if grid.result(s, BUNDLED)]
    if not done:
        return ""
    rows = []
    for distance in sorted(int(key) for key in done[0][1] if key.isdigit()):
        for key, label in ((f"{distance}", f"{distance}"), (f"{distance} attracted", f"{distance}, attracted")):
            if key in done[0][1]:
                rows.append([label, *(f"{100 * shares[key]:.1f}" for _, shares in done)])
    return table(["words between"] + [f"`{system.name}`" for system, _ in done], rows)


def main():
    study = Study(parser_of("ablations", __doc__).parse_args(), "ablations")
    need_multi30k("train.de", "test_2017_flickr.de")
    cells = [Cell(study, s, t, MEASURES) for t in TASKS for s in SYSTEMS]
    study.fill(study.selected(cells))
    grid = Grid(cells)
    where = f"Trained: {machines(cell.result() for cell in cells)}.\n"
    study.write({"parts": parts(grid) + where, "lengths": lengths(grid), "agreement": agreement(grid)}, cells)


project.run(main)
