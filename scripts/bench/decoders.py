"""Translates the test lines of Multi30k with regard and with other toolkits.

CTranslate2 translates with the weights of regard. OpenNMT-py and JoeyNMT have trained a model of the same
sizes and sub-words for fewer steps, because they take longer; the lengths of their translations differ. The
models are kept in build/peers/models.

Loading is not counted. regard translates the lines once in one process and several times in another; its
time is the difference, in which it also splits text into sub-words and joins them again. The others report
their time themselves.
"""

import copy
import json
import pathlib
import shutil

import peer_ctranslate2
import peers
from cases import ARCHITECTURES, DECODING_BATCH, MAX_LENGTH, Case, Translated
from cases import encode, encode_corpus, train_regard, translate_regard
from figures import recipe
from pages import table
from programs import work_folder
from project import ENVIRONMENT_ERROR, ROOT, Failure, need_multi30k, regard, warn
from report import build, median

SOURCE = "data/multi30k/test_2016_flickr.en"
REFERENCE = "data/multi30k/test_2016_flickr.de"
BEAMS = {1: "greedy", 5: "beam 5"}
PRECISIONS = ("int8", "bf16", "fp32")
COPIES = 4  # of the test lines, translated at once
MODELS = peers.FOLDER / "models"


def kept_model(name, case, identity, train):
    """Returns the folder of the model `name`. Calls train(folder) unless the folder has a model with this
    identity, a string of everything that it depends on."""
    folder = MODELS / f"{name}_{case.name}"
    stamp = MODELS / f"{name}_{case.name}.recipe"
    if folder.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == identity:
        return folder
    warn(f"{case.name}: training {name}, {case.steps} steps")
    MODELS.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    train(folder)
    stamp.write_text(identity, encoding="utf-8")
    return folder


def regard_model(case):
    """Returns the run folder of regard, whose sub-words are those of the case."""
    architecture = case.architecture
    identity = recipe(architecture.config, [*architecture.overrides, str(case.steps)])
    folder = kept_model("regard", case, identity, lambda folder: train_regard(case, folder))
    case.tokenizers = folder / "last"
    return folder


def peer_model(name, case, python):
    peer = peers.TRAINERS[name]
    recipe_text = json.dumps(peer.configuration(case, MODELS), sort_keys=True)
    identity = recipe_text.replace(str(case.work), "")
    return kept_model(name, case, identity, lambda folder: peer.train(case, python, folder))


class Lines:
    """The test lines once and `copies` times, as text and in sub-words."""

    def __init__(self, case, copies):
        text = (ROOT / SOURCE).read_text(encoding="utf-8")
        self.count = text.count("\n")
        self.copies = copies
        self.once = ROOT / SOURCE
        self.many = case.work / "source.many"
        self.many.write_text(text * copies, encoding="utf-8")
        self.encoded = case.work / "source.test"  # written by peer_rows()


class Row:
    """A row of the table. `measure()` returns a Translated for each beam size. Slow programs run in the
    first round only."""

    def __init__(self, title, measure, slow=False):
        self.title = title
        self.measure = measure
        self.slow = slow
        self.runs = []  # what measure() returned in each round
        # Of each beam size; set by judge().
        self.pieces = {}  # of a translation, on average
        self.bleu = {}

    def sentences_per_second(self, beam):
        return [run[beam].lines / run[beam].seconds for run in self.runs]

    def pieces_per_second(self, beam):
        return [speed * self.pieces[beam] for speed in self.sentences_per_second(beam)]

    def translations(self, beam):
        text = pathlib.Path(self.runs[0][beam].output).read_text(encoding="utf-8")
        return text.rstrip("\n").split("\n")

    def figures(self, beam):
        return {
            "sentences_per_second": median(self.sentences_per_second(beam)),
            "pieces_per_second": median(self.pieces_per_second(beam)),
            "pieces_per_sentence": self.pieces[beam],
            "bleu": self.bleu[beam],
        }

    def peak_bytes(self):
        return max(translated.peak_bytes for run in self.runs for translated in run.values())


def measure_regard(case, model, precision, lines):
    found = {}
    for beam in BEAMS:
        once = translate_regard(case, model, precision, beam, lines.once, lines.count)
        many = translate_regard(case, model, precision, beam, lines.many, lines.count * lines.copies)
        found[beam] = Translated(
            many.peak_bytes, many.seconds - once.seconds, many.lines - once.lines, once.output
        )
    return found


def regard_rows(case, model, lines):
    return [
        Row(f"regard, {p}", lambda p=p: measure_regard(case, model, p, lines)) for p in PRECISIONS
    ]


def ctranslate2_rows(case, python, run, lines):
    encode(python, case, "source", lines.once, lines.encoded)
    model = peer_ctranslate2.convert(case, run)
    copies = lines.copies - 1  # as many lines as in the time of regard
    return [
        Row(
            f"{peer_ctranslate2.TITLE}, {compute_type}",
            lambda compute_type=compute_type: peer_ctranslate2.translate(
                case, python, model, compute_type, BEAMS, lines.encoded, copies
            ),
        )
        for compute_type in peer_ctranslate2.TYPES
    ]


def trainer_rows(name, case, python, lines):
    """Returns the row of a toolkit that trains; trains its model."""
    peer = peers.TRAINERS[name]
    case = copy.copy(case)
    case.set_steps(case.architecture.peer_decoding_steps)
    encode_corpus(python, case)
    encode(python, case, "source", lines.once, lines.encoded)
    model = peer_model(name, case, python)
    source = lines.once if name == "joeynmt" else lines.encoded
    return [
        Row(
            peer.TITLE,
            lambda: {
                beam: peer.translate(case, python, model, beam, source, lines.count) for beam in BEAMS
            },
            slow=True,
        )
    ]


def peer_rows(case, pythons, run, lines):
    """Returns the rows of the other toolkits, and the titles of those that failed."""
    found, absent = [], []
    for name, python in pythons.items():
        try:
            if name == "ctranslate2":
                found += ctranslate2_rows(case, python, run, lines)
            else:
                found += trainer_rows(name, case, python, lines)
        except Failure as failure:
            warn(f"{peers.PEERS[name].TITLE} is left out: {failure}")
            absent.append(peers.PEERS[name].TITLE)
    return found, absent


def measure(case, rows, rounds):
    """Runs all rows in turn. Returns the titles of those that failed, which it removes."""
    absent = []
    for index in range(rounds):
        for row in list(rows):
            if row.slow and index > 0:
                continue
            warn(f"{case.name}: {row.title}, round {index + 1} of {rounds}")
            try:
                row.runs.append(row.measure())
            except Failure as failure:
                warn(f"{row.title} is left out: {failure}")
                absent.append(row.title)
                rows.remove(row)
    return absent


def judge(case, python, rows):
    """Sets pieces and BLEU of each row. The text of every program is split with the same model."""
    encoded = case.work / "output.encoded"
    for row in rows:
        for beam, translated in row.runs[0].items():
            encode(python, case, "target", translated.output, encoded)
            pieces = [len(line.split(" ")) for line in encoded.read_text("utf-8").split("\n")[:-1]]
            row.pieces[beam] = sum(pieces) / len(pieces)
            scores = regard("evaluate", "--hypotheses", translated.output, "-r", REFERENCE, "--json")
            row.bleu[beam] = json.loads(scores)["bleu"]["score"]


def report_rows(report, case, lines, rounds, rows, absent):
    architecture = case.architecture
    report.say(
        f"**{architecture.title}** (`{architecture.config}`, trained for {case.steps} steps): "
        f"{lines.count} lines, {case.threads} thread(s), batches of {DECODING_BATCH} sentences, "
        f"translations of up to {MAX_LENGTH} pieces, {rounds} round(s) in turn."
    )
    head = ["", "peak MB"]
    for search in BEAMS.values():
        head += [f"{search}: sentences/s", "pieces/s", "pieces a sentence", "BLEU"]
    cells = [[row.title, f"{row.peak_bytes() / 1e6:.0f}"] for row in rows]
    for row, line in zip(rows, cells):
        for beam in BEAMS:
            line += [
                f"{median(row.sentences_per_second(beam)):.0f}",
                f"{median(row.pieces_per_second(beam)):.0f}",
                f"{row.pieces[beam]:.1f}",
                f"{row.bleu[beam]:.1f}",
            ]
    report.say(table(head, cells))
    slow = [row.title for row in rows if row.slow]
    if slow:
        report.say(
            f"{' and '.join(slow)}: one round, with their own models, trained for "
            f"{architecture.peer_decoding_steps} steps."
        )
    for title in absent:
        report.say(f"{title} could not be run and has no row.")
    report.figures[case.name] = {
        "steps": case.steps,
        "rounds": rounds,
        "absent": absent,
        **{
            row.title: {
                "peak_memory": row.peak_bytes(),
                **{search: row.figures(beam) for beam, search in BEAMS.items()},
            }
            for row in rows
        },
    }


def compare(report, rows):
    """Compares regard with CTranslate2 in the same precision, in pairs of rounds."""
    by_title = {row.title: row for row in rows}
    for mine, its in (("int8", "int8"), ("fp32", "float32")):
        ours = by_title.get(f"regard, {mine}")
        theirs = by_title.get(f"{peer_ctranslate2.TITLE}, {its}")
        if not ours or not theirs:
            continue
        parts = []
        for beam, search in BEAMS.items():
            ratio = median([
                a / b for a, b in zip(ours.pieces_per_second(beam), theirs.pieces_per_second(beam))
            ])
            same = sum(
                a == b for a, b in zip(ours.translations(beam), theirs.translations(beam), strict=True)
            )
            parts.append(f"{search} **{ratio:.2f}**, with {same} equal translations")
        report.say(
            f"{ours.title} ÷ {theirs.title}, in pieces a second, medians of pairs: {'; '.join(parts)}."
        )


def run(report, options):
    need_multi30k("train.en", "train.de", "val.en", "val.de", "test_2016_flickr.en", "test_2016_flickr.de")
    build("regard")
    wanted = [name for name in peers.PEERS if name in options.against]
    pythons = {name: python for name in wanted if (python := peers.environment(name))}
    missing = [peers.PEERS[name].TITLE for name in wanted if name not in pythons]
    if not pythons:
        raise Failure(ENVIRONMENT_ERROR, "no other toolkit could be installed; see above")
    encoder = next(iter(pythons.values()))  # all have SentencePiece
    rounds = 1 if options.quick else options.rounds
    for name in options.architecture:
        with work_folder() as work:
            case = Case(work, options, name, ARCHITECTURES[name].decoding_steps, save=True)
            run_folder = regard_model(case)
            lines = Lines(case, 2 if options.quick else COPIES)
            rows, absent = regard_rows(case, run_folder, lines), []
            if name == "transformer":
                found, absent = peer_rows(case, pythons, run_folder, lines)
                rows += found
                absent += missing
            absent += measure(case, rows, rounds)
            judge(case, encoder, rows)
            report_rows(report, case, lines, rounds, rows, absent)
            compare(report, rows)
