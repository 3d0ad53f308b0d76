"""Trains every attention on the same data with the same number of steps and writes docs/attention.md.

A cell of the table is one kind of attention on one task; it takes three to five minutes on two cores. Its
figures are stored in docs/attention/figures.json with a hash of its recipe (the configuration). Finished cells
whose recipe has not changed are skipped, stopped ones are resumed.
"""

import pathlib
import tempfile

import page
import project
from cells import Cell, Study, measure_speed, parser_of
from measures import MEASURES
from project import need_multi30k
from systems import SYSTEMS, TASKS, VARIANTS


def main():
    parser = parser_of("attention", __doc__)
    parser.add_argument("--speed", action="store_true",
                        help="only measure tokens/s; ten minutes, on a quiet machine")  # fmt: skip
    options = parser.parse_args()
    study = Study(options, "attention")
    need_multi30k("train.de")
    cells = [Cell(study, s, t, MEASURES) for t in TASKS for s in SYSTEMS + VARIANTS]
    selected = study.selected(cells)
    if options.speed:
        measure_speed([cell for cell in selected if cell.task is TASKS[0]])
    else:
        study.fill(selected)
    with tempfile.TemporaryDirectory() as work:
        study.write(page.parts(page.Grid(study, cells), pathlib.Path(work)), cells)


project.run(main)
