"""Trains every attention on the same data with the same steps and writes docs/attention.md.

A cell is one kind on one task, three to five minutes on two cores. Done cells are skipped, stopped
ones go on; key=value settings go to every training (threads=1 leaves a core for other work).
"""

import argparse
import pathlib
import re
import sys
import tempfile
import time

import page
import speed
from cells import ROOT, Cell, Failure, regard
from systems import SYSTEMS, TASKS


def warn(text):
    print(f"compare_attention: {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/compare_attention.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--runs", default="runs/attention", help="where the cells' runs are")
    parser.add_argument("--only", default="", help="kinds, parted by commas")
    parser.add_argument("--minutes", type=float, help="begin no cell after so many")
    parser.add_argument("--speed", action="store_true",
                        help="only measure tokens/s: on a quiet machine, ten minutes")
    parser.add_argument("--table", action="store_true", help="train nothing: write what is there")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    return parser.parse_args()


def need(options):
    if not (ROOT / "data" / "multi30k" / "train.de").is_file():
        raise Failure(3, "no data/multi30k/train.de; scripts/fetch_multi30k.sh brings it")
    names = [system.name for system in SYSTEMS]
    for name in filter(None, options.only.split(",")):
        if name not in names:
            raise Failure(2, f"no system '{name}'; there are {', '.join(names)}")


def machine():
    cpu = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", cpu, re.M)
    cores = cpu.count("processor\t:")
    version = regard("--version").strip()
    return f"Machine: {cores} cores of {model.group(1) if model else 'unknown'}, regard {version}."


def main():
    options = arguments()
    need(options)
    folder = ROOT / options.runs
    speeds = folder / "speed.json"
    if options.speed:
        speed.measure(SYSTEMS, options.settings, speeds, warn)
        options.table = True
    cells = [Cell(folder, s, t, options.settings) for t in TASKS for s in SYSTEMS]
    start = time.monotonic()
    wanted = list(filter(None, options.only.split(",")))
    for cell in cells:
        if options.table or cell.result() or (wanted and cell.system.name not in wanted):
            continue
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            warn(f"{options.minutes:g} minutes are over; the next cell is {cell.run}")
            break
        warn(f"{cell.run}")
        cell.fill()
    with tempfile.TemporaryDirectory() as work:
        page.write(page.Grid(cells, speed.read(speeds)), pathlib.Path(work), machine())
    done = sum(cell.result() is not None for cell in cells)
    warn(f"written: docs/attention.md, {done} of {len(cells)} cells")


try:
    main()
except Failure as failure:
    warn(failure)
    sys.exit(failure.code)
