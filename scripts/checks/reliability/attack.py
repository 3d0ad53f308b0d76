"""Repeats accidents that happened to users. Each calls regard and checks the exit code, the messages, the
time, and the files that remain."""

import pathlib
import signal
import tempfile
import time

import accidents_to_files
import accidents_to_inputs
import accidents_to_processes
from project import CHECK_FAILED, ROOT, Failure, count_of, names_in, warn
from workplace import Workplace, Wrong

ACCIDENTS = {
    **accidents_to_files.ACCIDENTS,
    **accidents_to_processes.ACCIDENTS,
    **accidents_to_inputs.ACCIDENTS,
}


def run(wanted):
    """Runs the accidents in the comma-separated list, or all; returns the figures and the text of the page.
    Raises Failure if one ends in another way than expected."""
    names = names_in(wanted, ACCIDENTS, "accident")
    rows, faults, seconds = [], {}, {}
    begun = time.monotonic()
    # A shell starts background jobs with SIGINT ignored, and the calls of regard would inherit that. They do
    # not inherit a handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="attack-") as folder:
        place = Workplace(pathlib.Path(folder))
        for name in names:
            place.begin(name)
            start = time.monotonic()
            try:
                rows.append(ACCIDENTS[name](place))
            except Wrong as fault:
                faults[name] = str(fault)
            seconds[name] = round(time.monotonic() - start, 1)
            warn(f"{name}: {faults.get(name, 'as expected')} ({seconds[name]} s)")
    if faults:
        raise Failure(CHECK_FAILED, f"{len(faults)} of {count_of(len(names), 'accident')}: {', '.join(faults)}")
    table = ["| accident | exit code | afterwards |", "|---|---|---|"]
    table += [f"| {row.accident} | {row.codes} | {row.result} |" for row in rows]
    minutes = (time.monotonic() - begun) / 60
    return {
        "accidents": len(names),
        "seconds": seconds,
        "text": f"{count_of(len(names), 'accident')} in {minutes:.0f} minutes; none ended in a crash, a message "
        "about a bug in regard, or a call that did not end.\n\n" + "\n".join(table) + "\n",
    }
