"""Trains every attention on the same data with the same number of steps and writes docs/attention.md.

A cell of the table is one kind of attention on one task; it takes three to five minutes on two cores. Its
figures are stored in docs/attention/figures.json with a hash of its recipe (the configuration). Finished cells
whose recipe has not changed are skipped, stopped ones are resumed.
"""

import argparse
import concurrent.futures
import pathlib
import tempfile
import time

import page
import project
import speed
from cells import Cell
from figures import Figures
from project import CORES, ROOT, machine, names_in, need_multi30k, warn
from systems import SYSTEMS, TASKS


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/compare_attention.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", default="runs/attention", help="folder of the runs of the cells")
    parser.add_argument("--only", default="", help="kinds, separated by commas")
    parser.add_argument("--tasks", default="", help="tasks, separated by commas")
    parser.add_argument("--jobs", type=int, choices=range(1, 65), metavar="N", default=1,
                        help="number of cells trained at once (default 1), which share the cores")
    parser.add_argument("--minutes", type=float, help="start no further cell after N minutes")
    parser.add_argument("--speed", action="store_true",
                        help="only measure tokens/s; ten minutes, on a quiet machine")
    parser.add_argument("--table", action="store_true", help="train nothing; write the page from the stored figures")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="passed to every training")
    return parser.parse_args()


def fill(cells, options):
    """Trains the cells that are not done, `options.jobs` at a time."""
    start = time.monotonic()
    threads = max(1, CORES // options.jobs)

    def fill_one(cell):
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            return
        warn(f"{cell.run}")
        cell.fill(threads, machine())

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for _ in pool.map(fill_one, [cell for cell in cells if not cell.result()]):
                pass
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def main():
    options = arguments()
    systems = names_in(options.only, [system.name for system in SYSTEMS], "system")
    tasks = names_in(options.tasks, [task.name for task in TASKS], "task")
    need_multi30k("train.de")
    figures = Figures(ROOT / "docs" / "attention" / "figures.json")
    if options.speed:
        wanted = [system for system in SYSTEMS if system.name in systems]
        speed.measure(wanted, options.settings, figures, machine(), warn)
    folder = ROOT / options.runs
    cells = [Cell(folder, figures, s, t, options.settings) for t in TASKS for s in SYSTEMS]
    if not options.speed and not options.table:
        fill([c for c in cells if c.system.name in systems and c.task.name in tasks], options)
    with tempfile.TemporaryDirectory() as work:
        page.write(page.Grid(cells, figures), pathlib.Path(work))
    done = sum(cell.result() is not None for cell in cells)
    warn(f"written: docs/attention.md, {done} of {len(cells)} cells")


project.run(main)
