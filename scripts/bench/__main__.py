"""Measures regard, and other toolkits for comparison, on this machine.

    step           a training step of the bench model and its parts, compared with its matrix products alone
                   (the floor) and with the reference implementation of each kernel (the plain path)
    product        matrix products with few rows, compared with those of LibTorch
    architectures  a training step of every architecture beside its floor
    decoding-steps
                   time and memory of a search by kind of attention and source length
    growth         step and floor as batch, length, vocabulary and hidden size grow
    decode         greedy and beam search over the test lines of Multi30k, with the model of --model
    memory         peak memory of training the bench model, early and late
    corpus         a corpus larger than memory: prepare, start of training, memory, reading of batches; --pairs;
                   20 million need 6 GB of disk
    start          wall time of `regard --help`, of translating one line and before the first training step
    race           wall-clock time from raw Multi30k text to BLEU 35 and 37; twenty minutes
    trainers       training, compared with JoeyNMT and OpenNMT-py; twenty minutes
    decoders       translation, compared with CTranslate2, OpenNMT-py and JoeyNMT; the first time it trains
                   the models, which takes half an hour
    shortlist      translation with shortlists of several sizes; the first time it trains the model, some minutes
    gpu            a step and a search of the recipes on the first GPU and on the processors; ten minutes
    builds         training with this build and with that of --before, which shows differences of one per cent
    all            all of these except race, corpus, shortlist, gpu and builds; trainers and decoders only with --against
"""

import argparse
import shlex
import sys

import builds
import compiled
import corpus
import decoders
import gpu
import memory
import page
import peers
import project
import race
import shortlist
import start
import trainers
from cases import ARCHITECTURES
from project import Failure
from report import Report

VERBS = {
    "step": compiled.step,
    "product": compiled.product,
    "architectures": compiled.architectures,
    "decoding-steps": compiled.decoding_steps,
    "growth": compiled.growth,
    "decode": compiled.decode,
    "memory": memory.run,
    "corpus": corpus.run,
    "start": start.run,
    "race": race.run,
    "trainers": trainers.run,
    "decoders": decoders.run,
    "shortlist": shortlist.run,
    "gpu": gpu.run,
    "builds": builds.run,
}
NOT_IN_ALL = ("race", "corpus", "shortlist", "gpu", "builds")
COMPARISONS = ("trainers", "decoders")  # with other toolkits, which are installed for it


def names_of(known):
    """Returns the type of an argument: a comma-separated list of known names."""

    def convert(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"unknown name '{name}'; expected one of: {', '.join(known)}"
                )
        return names

    return convert


def count(text):
    """Converts an argument to an integer, at least 0."""
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def arguments():
    parser = project.parser_of("scripts/bench.sh", __doc__)
    parser.add_argument("verbs", nargs="+", choices=[*VERBS, "all"], metavar="VERB")
    parser.add_argument("--no-build", action="store_true", help="measure the program that is there")
    parser.add_argument("--quick", action="store_true", help="run few rounds, as a smoke test")
    parser.add_argument("--threads", type=count, default=0, help="0 (default): one for each core")
    parser.add_argument("--model", default="runs/bench", help="the run used by decode and start")
    parser.add_argument(
        "--config",
        nargs="+",
        default=["configs/multi30k_fast.yaml", "configs/multi30k_transformer_fast.yaml"],
        help="the configurations of race and builds, one after the other",
    )
    parser.add_argument("--pairs", type=count, default=0, help="pairs of corpus; default: 20,000,000")
    parser.add_argument("--keep", help="folder for the runs of race; default: a temporary folder")
    parser.add_argument(
        "--against",
        type=names_of(peers.PEERS),
        metavar="PEER,…",
        help=f"the toolkits of trainers and decoders; default: {','.join(peers.PEERS)}",
    )
    parser.add_argument(
        "--architecture",
        type=names_of(ARCHITECTURES),
        default=list(ARCHITECTURES),
        metavar="NAME,…",
        help=f"the models of trainers and decoders; default: {','.join(ARCHITECTURES)}",
    )
    parser.add_argument("--steps", type=count, default=0, help="training steps of each program in trainers and builds")
    parser.add_argument("--rounds", type=count, default=3, help="rounds of trainers, decoders and builds")
    parser.add_argument("--before", metavar="PROGRAM", help="the program of the other build, for builds")
    parser.add_argument(
        "--run-with",
        type=shlex.split,
        default=[],
        metavar="COMMAND",
        help="runs each program that trainers and decoders measure, such as 'taskset -c 0,1'",
    )
    parser.add_argument("--write", action="store_true", help="also write the tables into docs/")
    return parser.parse_args()


def main():
    options = arguments()
    verbs = options.verbs
    skip_failures = "all" in verbs
    if skip_failures:
        without = NOT_IN_ALL if options.against else (*NOT_IN_ALL, *COMPARISONS)
        verbs = [verb for verb in VERBS if verb not in without]
    options.against = options.against or list(peers.PEERS)
    Report.builds = not options.no_build
    report = Report(options)
    for verb in verbs:
        try:
            report.begin(verb)
            VERBS[verb](report, options)
        except Failure as failure:
            if not skip_failures:
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
