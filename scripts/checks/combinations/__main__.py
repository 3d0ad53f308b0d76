"""Combines the options of model, data, training and decoding, so that every two values that may stand together occur in
some row (a pairwise covering array), and runs each row on tiny data: four steps with two validations, a stop in the
middle and a resumption, translation, scoring and alignment. A row must keep what holds of every model: finite losses,
the bytes of one sentence at a time in any batch, the bytes of an uninterrupted training after a resumption, the
probabilities of a translation when it is scored, links within the words of the user, a config.yaml that is read as it
was written. Two values that may not stand together must be refused by a message that names both keys. The rows and the
failures are kept in combinations/ beside the program.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys

import pages
import project
from data import SIZES, write_data
from options import NEEDS, WITH_SIZE, WORLDS
from project import CHECK_FAILED, CORES, REGARD, Failure, count_of

PATIENCE = 300  # seconds for one command


class Program:
    """The program that is tested."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *words):
        """Returns exit code, standard output and messages."""
        try:
            done = subprocess.run(
                [self.path, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False
            )
        except subprocess.TimeoutExpired:
            return -1, "", f"did not end within {PATIENCE} seconds"
        return done.returncode, done.stdout, done.stderr


class World:
    """The options of one kind of source, and what the program says of their combinations."""

    def __init__(self, name, program, work):
        self.name = name
        self.program = program
        self.folder = work / name
        self.settings, self.options = WORLDS[name]
        self.config = write_data(name, self.folder, program)
        self.source = self.folder / ("dev.safetensors" if name == "sound" else "dev.src")
        self.defaults = {key: values[0] for key, values in self.options.items()}
        self.answers = {}
        self.refused = set()  # pairs
        self.faults = []  # of messages

    def overrides(self, row):
        """Returns the words of the command line."""
        words = self.settings + [f"{key}={as_yaml(value)}" for key, value in row.items()]
        kind = row.get("data.tokenizer.kind")
        if kind in ("bpe", "unigram"):  # the words of data.py have few letters
            words.append(f"data.tokenizer.vocabulary_size={60 if kind == 'bpe' else 32}")
        for side in ("src_tag", "trg_tag"):
            if row.get(f"data.train.0.{side}"):
                words.append(f"data.dev.{side}={row[f'data.train.0.{side}']}")
        if row.get("training.scheduling") in ("cosine", "exponential"):
            words.append("training.decay_steps=10")
        for side in ("encoder", "decoder"):
            if row.get(f"model.{side}.kind") == "transformer" or row.get(f"model.{side}.self_attention_layers"):
                words += [f"model.{side}.heads=2", f"model.{side}.feed_forward_size=12"]
        if row.get("model.decoder.kind") != "transformer":
            kind = row.get("model.attention.kind", "additive")
            words.append("model.decoder.readout_size=8")
            words += ["model.attention.size=8"] if kind in WITH_SIZE else []
            words += ["model.attention.heads=2"] if kind == "multi_head" else []
        return words

    def refusal(self, row):
        """Returns the message with which a configuration is refused, or an empty string."""
        key = tuple(sorted(row.items(), key=str))
        if key not in self.answers:
            words = ["-c", self.config, *self.overrides(row)]
            code, _, messages = self.program("config", "print", *words)
            if code == 0:  # what depends on the data and on training
                run = f"training.model_dir={self.folder / 'none'}"
                code, _, messages = self.program("train", "--dry-run", *words, run, "training.max_steps=4")
            self.answers[key] = "\n".join(line for line in messages.splitlines() if ": " in line) if code else ""
        return self.answers[key]

    def together(self, *values):
        """Returns a row of the values and of what they need; None if they contradict each other."""
        row = {}
        for key, value in values:
            need = NEEDS.get((key, value)) or (value != self.defaults[key] and NEEDS.get((key, None)))
            for name, setting in [(key, value), *([need] if need else [])]:
                if row.setdefault(name, setting) != setting:
                    return None
        return row

    def pairs(self):
        """Returns all pairs of values that do not contradict each other by what they need."""
        values = [(key, value) for key, of_key in self.options.items() for value in of_key]
        return [
            (one, other)
            for one, other in itertools.combinations(values, 2)
            if one[0] != other[0] and self.together(one, other) is not None
        ]

    def repair(self, row):
        """Takes values out of a row until it is accepted. Learns the pairs that are refused on their own."""
        while refusal := self.refusal(row):
            named = [key for key in row if names(refusal, key) and row[key] != self.defaults[key]]
            if not named:
                self.faults.append(f"{self.name}: {row}: the message names none of the keys: {refusal.strip()}")
                return {}
            culprit = (named[0], row[named[0]])
            if alone := self.refusal(self.together(culprit)):
                fault = f"{self.name}: {culprit} needs more than is said: {alone.strip()}"
                self.faults += [fault] if fault not in self.faults else []
            else:
                self.learn_refusals(culprit, row)
            row = {key: value for key, value in row.items() if key != culprit[0]}
            row = {key: value for key, value in row.items() if self.has_needs(row, key)}
        return row

    def learn_refusals(self, culprit, row):
        """Finds a value of the row with which this one is refused. The message must name it."""
        refusal = self.refusal(row)
        named = [other for other in row.items() if names(refusal, other[0])]
        for other in [*named, *(other for other in row.items() if other not in named)]:
            pair = self.together(culprit, other) if other[0] != culprit[0] else None
            if pair is None or self.refusal(self.together(other)) or not self.refusal(pair):
                continue
            self.refused.add(frozenset([culprit, other]))
            message = self.refusal(pair)
            if not any(names(message, key) for key in self.together(other)):
                self.faults.append(f"{self.name}: {pair}: the message does not name {other[0]}: {message.strip()}")
            return

    def has_needs(self, row, key):
        wanted = self.together((key, row[key]))
        return all(row.get(name, self.defaults[name]) == value for name, value in wanted.items())

    def rows(self, limit, draw):
        """Yields rows until each pair occurs in one or was refused, or `limit` rows."""
        left = self.pairs()
        draw.shuffle(left)
        idle = 0
        while left and limit > 0 and idle < 20:
            row = {}
            for pair in left:
                wanted = self.together(*pair)
                longer = {**row, **wanted}
                if any(row.get(key, value) != value for key, value in wanted.items()):
                    continue
                if not any(refused <= set(longer.items()) for refused in self.refused):
                    row = longer
            row = self.repair(row)
            before = len(left)
            left = [
                pair
                for pair in left
                if frozenset(pair) not in self.refused
                and not all(row.get(key, self.defaults[key]) == value for key, value in pair)
            ]
            idle = idle + 1 if len(left) == before else 0
            draw.shuffle(left)
            if len(left) < before:
                limit -= 1
                yield row

    def covered(self, table):
        """Returns the pairs that occur in a row."""
        full = [{**self.defaults, **row} for row in table]
        return [pair for pair in self.pairs() if any(all(row[key] == value for key, value in pair) for row in full)]

    def without_defaults(self, row):
        return {key: value for key, value in row.items() if value != self.defaults[key]}


def names(message, key):
    """True if the message names the key, or its last part in words ("self-attention layers"; "recurrent encoder" for
    model.encoder.kind)."""
    if key.startswith("data.noise."):  # named as a whole
        return "data.noise" in message
    *_, section, last = ["", *key.split(".")]
    words = re.sub(r"[- ]", "_", message)
    return key in message or (section if last == "kind" else last) in words


def as_yaml(value):
    return json.dumps(value) if isinstance(value, (bool, int, float)) or value == "" else value


class Row:
    """One row: runs it and collects what does not hold."""

    def __init__(self, world, number, row):
        self.world, self.row = world, row
        self.folder = world.folder / f"row-{number:03}"
        self.faults = []

    def run(self, *words):
        code, out, messages = self.world.program(*words)
        if code != 0:
            self.faults.append(f"regard {' '.join(map(str, words))}\nended with {code}: {messages.strip()[-1500:]}")
        return out if code == 0 else None

    def check(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if self.train() and self.round_trip():
            lines = self.translate()
            if lines is not None:
                self.score(lines)
                self.align(lines)
        if not self.faults:
            shutil.rmtree(self.folder)
        return self.faults

    def train(self):
        initial = []
        common = ["train", "-c", self.world.config, *self.world.overrides(self.row), "training.validation_every=2"]
        if self.row.get("training.objective") == "minimum_risk":
            model = self.folder / "initial"
            started = [*common, "training.objective=likelihood", f"training.model_dir={model}", "training.max_steps=1"]
            if self.run(*started) is None:
                return False
            initial = ["--init-from", model]
        once, twice = ([*common, f"training.model_dir={self.folder / name}"] for name in ("once", "twice"))
        for words in ([*once, "training.max_steps=4", *initial], [*twice, "training.max_steps=2", *initial],
                      [*twice, "training.max_steps=4"]):  # fmt: skip
            if self.run(*words) is None:
                return False
        for line in (self.folder / "once" / "train.jsonl").read_text(encoding="utf-8").splitlines():
            if not all(math.isfinite(x) for x in json.loads(line).values() if isinstance(x, (int, float))):
                self.faults.append(f"train.jsonl: not finite: {line}")
        for file in ("model.safetensors", "training.safetensors"):
            bytes_of = [(self.folder / name / "last" / file).read_bytes() for name in ("once", "twice")]
            if bytes_of[0] != bytes_of[1]:
                self.faults.append(f"{file}: other bytes after a resumption")
        return True

    def round_trip(self):
        written = self.folder / "once" / "config.yaml"
        printed = self.run("config", "print", "-c", written)
        if printed is not None and printed != written.read_text(encoding="utf-8"):
            self.faults.append("config.yaml is not read as it was written")
        return printed is not None

    def translate(self):
        """Returns the translations as objects."""
        source = ["translate", "-m", self.folder / "once", "-i", self.world.source, "--json"]
        alone = self.run(*source, "--batch-size", 1, "--threads", 1)
        together = self.run(*source, "--batch-size", 7, "--threads", 2)
        if alone is None or together is None:
            return None
        if alone != together:
            self.faults.append("translations depend on batch or threads")
        lines = [json.loads(line) for line in alone.splitlines()]
        lines = [{**line, **line["hypotheses"][0]} if line.get("hypotheses") else line for line in lines]  # of samples
        if len(lines) != SIZES["dev"]:
            self.faults.append("another number of lines than the source")
        return lines

    def score(self, lines):
        """A scored translation has the probability with which it was found, if its text has the same tokens."""
        hypotheses = self.folder / "hypotheses"
        hypotheses.write_text("".join(line["text"] + "\n" for line in lines), encoding="utf-8")
        out = self.run("score", "-m", self.folder / "once", "-s", self.world.source, "-t", hypotheses,
                       "--json")  # fmt: skip
        if out is None:
            return
        # Sampling and bans change the probabilities of a search, not those of the model.
        plain = self.row.get("data.tokenizer.kind", "word") == "word" and not any(
            self.row.get(f"search.{key}", 0) not in (0, 1) for key in ("repetition_penalty", "no_repeat_ngram", "samples")
        )
        for line, scored in zip(lines, json.loads(out)["scores"]):
            found = scored["log_probability"]
            if found is not None and not (math.isfinite(found) and found <= 1e-6):
                self.faults.append(f"line {line['line']}: scored with {found}")
            if plain and line.get("finished") and line["text"] and "<unk>" not in line["text"]:
                wanted = line["log_probability"]
                if abs(found - wanted) > 1e-4 * max(1, abs(wanted)):
                    self.faults.append(f"line {line['line']}: found with log P {wanted}, scored with {found}")

    def align(self, lines):
        if self.row.get("search.samples"):
            return  # the file has a line for each sample
        links = self.folder / "links"
        words = ["translate", "-m", self.folder / "once", "-i", self.world.source, "--alignments", links]
        code, _, messages = self.world.program(*words)
        if code == 2 and "has no attention" in messages:
            return
        if code != 0:
            self.faults.append(f"regard {' '.join(map(str, words))}\nended with {code}: {messages.strip()[-1500:]}")
            return
        sources = (self.world.folder / "dev.src").read_text(encoding="utf-8").splitlines()
        for source, line, text in zip(sources, lines, links.read_text(encoding="utf-8").splitlines()):
            for link in text.split():
                s, t = map(int, link.split("-"))
                outside = self.world.name != "sound" and s >= len(source.split())
                if outside or t >= max(1, len(line["text"].split())):
                    self.faults.append(f"line {line['line']}: link {link} is outside of the words")
                    return


def main():
    parser = argparse.ArgumentParser(prog="scripts/check.sh combinations", description=__doc__)
    parser.add_argument("--regard", type=pathlib.Path, default=REGARD, help="the program (default: build/regard)")
    parser.add_argument("--rows", type=int, default=10**6, help="at most this many rows of each world")
    parser.add_argument("--worlds", default="", help=f"a list of {', '.join(WORLDS)} (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="another one gives other rows")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE", help="keep the rows in this file")
    parser.add_argument("--read", type=pathlib.Path, help="run the rows of this file, and look for no others")
    parser.add_argument("--jobs", type=int, default=CORES)
    parser.add_argument("--write", action="store_true", help="note the run in docs/reliability.md")
    arguments = parser.parse_args()
    if not arguments.regard.is_file():
        raise Failure(project.ENVIRONMENT_ERROR, f"found no {arguments.regard}; build it with scripts/build.sh")
    program = arguments.regard.resolve()
    work = program.parent / "combinations"
    faults, rows, pairs = [], 0, 0
    kept = json.loads(arguments.read.read_text(encoding="utf-8")) if arguments.read else {}
    for name in project.names_in(arguments.worlds, list(WORLDS), "world"):
        world = World(name, Program(program), work)
        table = kept.get(name, []) if arguments.read else list(world.rows(arguments.rows, random.Random(arguments.seed)))
        faults += world.faults
        covered = len(world.covered(table))
        pairs += covered
        if not arguments.read:
            kept[name] = [world.without_defaults(row) for row in table]
        print(
            f"{name}: {count_of(len(table), 'row')} with {count_of(covered, 'pair')} of values; "
            f"{len(world.refused)} refused, {len(world.pairs()) - covered - len(world.refused)} not reached",
            flush=True,
        )
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            checked = pool.map(lambda entry: (entry, Row(world, *entry).check()), enumerate(table, 1))
            for (number, row), found in checked:
                for fault in found:
                    faults.append(f"{name}, row {number}: {json.dumps(row)}: {fault}")
                    print(faults[-1], file=sys.stderr, flush=True)
        rows += len(table)
    if arguments.keep:
        worlds = [f' "{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n ]" for name, rows in kept.items()]
        arguments.keep.write_text("{\n" + ",\n".join(worlds) + "\n}\n", encoding="utf-8")
    (work / "faults.txt").write_text("\n\n".join(faults), encoding="utf-8")
    result = f"{count_of(rows, 'row')}, {count_of(pairs, 'pair')}, {count_of(len(faults), 'fault')}"
    print(result)
    if arguments.write:
        worlds = f" --worlds {arguments.worlds}" if arguments.worlds else ""
        sanitized = " --regard build-asan/regard" if program.parent.name == "build-asan" else ""
        pages.record_check(f"combinations{worlds}{sanitized}", result)
    if faults:
        raise Failure(CHECK_FAILED, f"{faults[0]}\nall: {work / 'faults.txt'}")


project.run(main)
