"""Tries to break the promises of docs/reliability.md.

    kills  kills a training at random moments, also while it writes a checkpoint, and resumes it each
           time: it must end in the same bytes as a training that was never stopped
    soak   runs a training for a long time: memory, open files and logs must not grow
    attack repeats accidents that happened to users: closed descriptors, several writers, moved
           folders, signals and limits at bad moments, hostile inputs
"""

import json

import attack
import kills
import pages
import project
import soak
from project import CORES, ROOT, machine

PAGE = ROOT / "docs" / "reliability.md"


def count(text):
    """Converts an argument to an integer, at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def arguments():
    parser = project.parser_of("scripts/check.sh reliability", __doc__)
    parser.add_argument("verbs", nargs="+", choices=["kills", "soak", "attack"], metavar="VERB")
    parser.add_argument("--kills", type=count, default=100, help="number of kills; default: 100")
    parser.add_argument("--minutes", type=count, default=45, help="duration of soak; default: 45")
    parser.add_argument("--threads", type=count, default=CORES, help="threads of soak; default: all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments")
    parser.add_argument(
        "--accidents", default="", metavar="NAMES", help=f"accidents of attack, separated by commas: {', '.join(attack.ACCIDENTS)}"
    )
    parser.add_argument("--write", action="store_true", help="also write the figures into docs/reliability.md")
    options = parser.parse_args()
    if options.write and options.accidents:
        parser.error("--write: the page lists all accidents; remove --accidents")
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
