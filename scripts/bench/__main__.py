"""Measures regard on this machine, and the peers beside it.

    step     a training step of the bench model in its parts, its floor, the plain path
    product  products with few rows beside LibTorch's
    growth   step and floor as batch, length, vocabulary and hidden size grow
    decode   greedy and beam search over the test lines of Multi30k, with the model given
    memory   peak memory of training the bench model, early and late
    start    from process start to the end of --help, and to one translated line
    race     from raw Multi30k text to BLEU 35, by the wall clock; twenty minutes
    all      all of these but the race
"""

import argparse
import sys

import compiled
import memory
import page
import peers
import project
import race
import start
from project import Failure
from report import Report

VERBS = {
    "step": compiled.step,
    "product": compiled.product,
    "growth": compiled.growth,
    "decode": compiled.decode,
    "memory": memory.run,
    "start": start.run,
    "race": race.run,
}


def known_peers(text):
    names = text.split(",")
    for name in names:
        if name not in peers.PEERS:
            raise argparse.ArgumentTypeError(
                f"no peer '{name}'; there are {', '.join(peers.PEERS)}"
            )
    return names


def count(text):
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench.sh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verbs", nargs="+", choices=[*VERBS, "all"], metavar="VERB")
    parser.add_argument("--quick", action="store_true", help="few rounds: see that it works")
    parser.add_argument("--threads", type=count, default=0, help="0, the default: one a core")
    parser.add_argument("--model", default="runs/bench", help="the run that decode, start use")
    parser.add_argument("--config", default="configs/multi30k_fast.yaml", help="the recipe that races")
    parser.add_argument("--keep", help="where the race's run goes; a temporary folder without it")
    parser.add_argument(
        "--against",
        type=known_peers,
        default=[],
        metavar="PEER,…",
        help=f"train {' and '.join(peers.PEERS)} beside regard (step)",
    )
    parser.add_argument("--steps", type=count, default=0, help="of each program in --against")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md too")
    return parser.parse_args()


def main():
    options = arguments()
    verbs = options.verbs
    tolerant = "all" in verbs
    if tolerant:
        verbs = [verb for verb in VERBS if verb != "race"]
    report = Report(options)
    for verb in verbs:
        try:
            report.begin(verb)
            VERBS[verb](report, options)
        except Failure as failure:
            if not tolerant:
                raise
            report.say(f"Skipped: {failure}")
            report.figures["skipped"] = str(failure)
    if options.write:
        page.write(report)
    report.end()


try:
    project.run(main)
except KeyboardInterrupt:
    sys.exit(130)
