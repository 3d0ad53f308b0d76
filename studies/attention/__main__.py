"""Trains every attention on the same data with the same number of steps and writes docs/attention.md.

A cell of the table is one kind of attention on one task; it takes three to five minutes on two cores. Its
figures are stored in docs/attention/figures.json with a hash of its recipe (the configuration). Finished cells
whose recipe has not changed are skipped, stopped ones are resumed.
"""

import pathlib
import tempfile

import page
import project
from cells import Cell, fill, measure_speed, parser_of
from figures import Figures
from measures import MEASURES
from project import ROOT, names_in, need_multi30k, warn
from systems import SYSTEMS, TASKS, VARIANTS


def arguments():
    parser = parser_of("attention", __doc__, "runs/attention")
    parser.add_argument("--speed", action="store_true",
                        help="only measure tokens/s; ten minutes, on a quiet machine")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="passed to every training")
    return parser.parse_args()


def main():
    options = arguments()
    systems = names_in(options.only, [s.name for s in SYSTEMS + VARIANTS], "system")
    tasks = names_in(options.tasks, [task.name for task in TASKS], "task")
    need_multi30k("train.de")
    figures = Figures(ROOT / "docs" / "attention" / "figures.json")
    if options.speed:
        wanted = [system for system in SYSTEMS + VARIANTS if system.name in systems]
        measure_speed(wanted, TASKS[0], options.settings, figures)
    folder = ROOT / options.runs
    every = SYSTEMS + VARIANTS
    cells = [Cell(folder, figures, s, t, MEASURES, options.settings) for t in TASKS for s in every]
    if not options.speed and not options.table:
        fill([c for c in cells if c.system.name in systems and c.task.name in tasks], options)
    with tempfile.TemporaryDirectory() as work:
        page.write(page.Grid(cells, figures), pathlib.Path(work))
    done = sum(cell.result() is not None for cell in cells)
    warn(f"written: docs/attention.md, {done} of {len(cells)} cells")


project.run(main)
