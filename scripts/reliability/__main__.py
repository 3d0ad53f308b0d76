"""Tries to break what regard promises of its trainings.

    kills  a training is killed at random moments, also within a checkpoint's writing, and resumed
           each time: it must end in the bytes of one that was never stopped
    soak   a training is left alone for long: memory, open files and logs must not grow
"""

import argparse
import json
import os
import pathlib
import re
import sys

import kills
import soak
from run import ROOT, Failure, machine

PAGE = ROOT / "docs" / "reliability.md"


def count(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/reliability.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verbs", nargs="+", choices=["kills", "soak"], metavar="VERB")
    parser.add_argument("--kills", type=count, default=100, help="how many, 100")
    parser.add_argument("--minutes", type=count, default=45, help="of the soak, 45")
    parser.add_argument("--threads", type=count, default=os.cpu_count(), help="of the soak, all")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md too")
    return parser.parse_args()


def write(name, text):
    page = PAGE.read_text(encoding="utf-8")
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
    if not place.search(page):
        raise Failure(6, f"{PAGE}: no place for the figures of {name}")
    page = place.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", page, count=1)
    PAGE.write_text(page, encoding="utf-8")


def main():
    options = arguments()
    figures = {"machine": machine()}
    for verb in dict.fromkeys(options.verbs):
        if verb == "kills":
            found = kills.run(options.kills, options.seed)
        else:
            found = soak.run(options.minutes, options.threads)
        text = f"{machine()}\n\n{found.pop('text')}"
        print(f"## {verb}\n\n{text}", flush=True)
        if options.write:
            write(verb, text)
        figures[verb] = found
    print(json.dumps(figures))


try:
    main()
except Failure as failure:
    print(f"reliability: {failure}", file=sys.stderr)
    sys.exit(failure.code)
