"""Tries to break what regard promises of its trainings.

    kills  a training is killed at random moments, also within a checkpoint's writing, and resumed
           each time: it must end in the bytes of one that was never stopped
    soak   a training is left alone for long: memory, open files and logs must not grow
    attack accidents that happened to users are repeated: closed descriptors, several writers, folders
           that move, signals and limits at bad moments, hostile inputs
"""

import argparse
import json

import attack
import kills
import pages
import project
import soak
from project import CORES, ROOT, machine

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
    parser.add_argument("verbs", nargs="+", choices=["kills", "soak", "attack"], metavar="VERB")
    parser.add_argument("--kills", type=count, default=100, help="how many, 100")
    parser.add_argument("--minutes", type=count, default=45, help="of the soak, 45")
    parser.add_argument("--threads", type=count, default=CORES, help="of the soak, all")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument(
        "--accidents", default="", metavar="NAMES", help=f"of the attack: {', '.join(attack.ACCIDENTS)}"
    )
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md too")
    options = parser.parse_args()
    if options.write and options.accidents:
        parser.error("--write: the page has all accidents; leave --accidents out")
    return options


def main():
    options = arguments()
    figures = {"machine": machine()}
    for verb in dict.fromkeys(options.verbs):
        if verb == "kills":
            found = kills.run(options.kills, options.seed)
        elif verb == "attack":
            found = attack.run(options.accidents)
        else:
            found = soak.run(options.minutes, options.threads)
        text = f"Machine: {machine()}.\n\n{found.pop('text')}"
        print(f"## {verb}\n\n{text}", flush=True)
        if options.write:
            pages.put(PAGE, {verb: f"\n{text}\n"})
        figures[verb] = found
    print(json.dumps(figures))


project.run(main)
