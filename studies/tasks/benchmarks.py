"""The public tasks of docs/tasks.md: their data, the systems that are trained on each, and the published figures."""

import dataclasses
import hashlib
import random

from cells import System, Task, of_both_sides, of_side
from fetch import COMMANDS, INFLECTION, PRONUNCIATION, SPELLING
from project import ROOT
from rare import rarefied

CONFIG = "configs/symbols.yaml"
DATA = "data/tasks"
OF_PARTS = ("kor", "vie")  # languages for which `config init` proposes parts of letters and syllables
SEEDS = (42, 43, 44)
PARTS = ("data.tokenizer.kind=decomposed",)
HELD_OUT = 10  # of so many training pairs, one is for validation if a task has no validation pair
ADDRESSES = {  # of the origins of published figures
    "Vesik et al. 2020": "https://aclanthology.org/2020.sigmorphon-1.16",
    "Bollmann 2019": "https://arxiv.org/abs/1904.02036",
    "Kim and Linzen 2020": "https://aclanthology.org/2020.emnlp-main.731",
    "Csordás et al. 2021": "https://aclanthology.org/2021.emnlp-main.49",
    "Kim 2021": "https://arxiv.org/abs/2109.01135",
    "Lake and Baroni 2018": "https://arxiv.org/abs/1711.00350",
    "Dessì and Baroni 2019": "https://arxiv.org/abs/1905.08527",
    "Ling et al. 2016": "https://arxiv.org/abs/1603.06744",
    "Yin and Neubig 2018": "https://github.com/pcyin/tranX",
    "2022InflectionST": "https://github.com/sigmorphon/2022InflectionST",
}

RECURRENT = System("recurrent", (), "GRUs with additive attention", config=CONFIG)
TRANSFORMER = System(
    "transformer",
    (
        *of_both_sides("kind=transformer", "embedding_dim=128", "hidden_size=128", "layers=3", "heads=4",
                       "feed_forward_size=256", "position=rotary"),
        # Options that only a recurrent decoder reads have their defaults.
        *of_side("decoder", "query=auto", "readout_size=512"), "model.attention.size=512",
        "model.dropout.embeddings=0.2", "model.dropout.states=0.2", "model.dropout.readout=0",
        "training.adam_beta2=0.98", "training.warmup_steps=1000", "training.epochs=120",
    ),
    "Transformer",
    config=CONFIG,
)  # fmt: skip
COPYING = ("model.output.kind=copy",)
COPY = System("copy", COPYING, "GRUs with attention and copying", config=CONFIG)
TRANSFORMER_COPY = System(
    "transformer_copy", (*TRANSFORMER.settings, *COPYING), "Transformer with copying", config=CONFIG
)
# A word that the model does not see must be copied.
UNSEEN = ("model.dropout.tokens=0.1",)
# Rare words are copied by their parts (docs/tasks.md says how this was chosen).
PARTS_OF_WORDS = (
    "data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=250", "data.tokenizer.joint=true",
    "model.tied_embeddings=all",
)  # fmt: skip


def by_parts(system):
    settings = (*system.settings, *PARTS_OF_WORDS)
    return dataclasses.replace(system, name=f"{system.name}_parts", settings=settings, remark=f"{system.remark} parts of words")


# A word that was seen less than three times is only copied: 74.3 instead of 34.4 % of the validation lines exactly right.
def only_copying_rare(system):
    return dataclasses.replace(system, settings=(*system.settings, "data.tokenizer.min_frequency=3"))


def with_attention(kind, *settings):
    """Returns a system that differs from RECURRENT in its attention, and in the query that is usual for the kind."""
    settings = (*of_side("decoder", "query=auto"), f"model.attention.kind={kind}", *settings)
    return System(kind, settings, f"GRUs with `{kind}` attention and its usual query", config=CONFIG)


def with_positions(system):
    """Returns systems that differ from a Transformer in their positions."""
    settings = {kind: of_both_sides(f"position={kind}") for kind in ("none", "sinusoidal", "learned")}
    settings["learned"] += of_both_sides("max_positions=512")
    return tuple(
        System(f"{system.name}_{kind}", (*system.settings, *more), f"{system.remark}, positions `{kind}`", config=CONFIG)
        for kind, more in settings.items()
    )


# The search goes on until no open output can win, as `config init` proposes for such text. With `full`, beam_size
# finished outputs end it: 95.2 instead of 100 % of the validation text of scan simple, 88.3 instead of 88.7 of anselm, 56.3
# instead of 68.9 of asm with 700 items.
TO_THE_END = ("search.early_stopping=exact",)


def longer_outputs(tokens):
    """Returns settings for targets that are much longer than their source. By default, an output has at most 3 source
    lengths + 10, and training leaves out pairs of more than 9 times the length: those of single words in cogs."""
    return (f"search.max_output_length={tokens}", "search.max_output_ratio=0", "data.max_ratio=0")


KINDS = tuple(map(with_attention, ("additive", "monotonic", "hard", "local_m")))


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a table: the mean of a figure over tasks. `error`: the figure is subtracted from 100."""

    head: str
    figure: str  # part and metric, such as test.exact; `by`: the mean of the exact matches by kind of item
    tasks: tuple
    error: bool = False


@dataclasses.dataclass(frozen=True)
class Benchmark:
    name: str
    tasks: tuple  # with seed 42; other seeds are copies
    systems: tuple
    columns: tuple
    published: tuple  # (name, figures by the head of a column, origin, which begins with a key of ADDRESSES)
    parts: tuple = ("dev", "test")  # the texts that are scored
    seeds: tuple = SEEDS
    compared: tuple = ()  # further systems, with the first seed only
    compared_on: tuple = ()  # their tasks; without them, all
    ensembles: tuple = ()  # names of systems whose seeds also translate together
    adapted: dict = dataclasses.field(default_factory=dict)  # more settings of a system by (its name, task)


def task(folder, name, train="train", dev="dev", settings=()):
    stem = f"{DATA}/{folder}"
    return Task(name, "src", "trg", f"{stem}/{train}", f"{stem}/{dev}", f"{stem}/test", settings=settings)


def lines_of(stem):
    return [(ROOT / f"{stem}.{side}").read_text(encoding="utf-8").splitlines() for side in ("src", "trg")]


def write_pairs(stem, pairs):
    stem.parent.mkdir(parents=True, exist_ok=True)
    for side, lines in zip(("src", "trg"), zip(*pairs)):
        stem.with_name(f"{stem.name}.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def first(study, known, pairs, of_dev):
    """Returns a task with the first training and validation pairs of another; the figures of Bollmann (2019) are of so
    many words."""
    part = study.folder / "data" / known.name
    write_pairs(ROOT / f"{part}.train", list(zip(*lines_of(known.train)))[:pairs])
    write_pairs(ROOT / f"{part}.dev", list(zip(*lines_of(known.dev)))[:of_dev])
    return dataclasses.replace(known, train=f"{part}.train", dev=f"{part}.dev", made=f"first {pairs}, {of_dev}")


def with_dev(study, known):
    """Returns a task whose validation pair is drawn from the training pair."""
    pairs = list(zip(*lines_of(known.train)))
    random.Random(1).shuffle(pairs)
    held_out = len(pairs) // HELD_OUT
    stem = study.folder / "data" / known.name
    write_pairs(ROOT / f"{stem}.dev", pairs[:held_out])
    write_pairs(ROOT / f"{stem}.train", pairs[held_out:])
    return dataclasses.replace(known, train=f"{stem}.train", dev=f"{stem}.dev", made=f"held out {held_out}")


def benchmarks(study):
    return (
        pronunciation(),
        spelling(study),
        inflection(),
        logical_forms(),
        rare_words(study),
        commands(study),
        python(),
    )


def pronunciation():
    tasks = tuple(
        task(
            f"g2p2020/{language}", f"g2p2020-{language}", settings=(*TO_THE_END, *(PARTS if language in OF_PARTS else ()))
        )
        for language in PRONUNCIATION
    )
    names = tuple(each.name for each in tasks)
    paper = "Vesik et al. 2020"
    return Benchmark(
        "g2p2020",
        tasks,
        (RECURRENT, TRANSFORMER),
        (Column("WER", "test.exact", names, error=True), Column("PER", "test.per", names)),
        (
            ("pair n-grams", {"WER": 22.00, "PER": 4.92}, paper),
            ("bidirectional LSTM with attention", {"WER": 16.84, "PER": 3.99}, paper),
            ("Transformer", {"WER": 17.51, "PER": 4.30}, paper),
            ("ensembles with self-training", {"WER": 14.99, "PER": 3.30}, paper),
        ),
        compared=KINDS,
        ensembles=(RECURRENT.name,),
    )


def spelling(study):
    # More text than the words of the other tasks, so less dropout: 90.0 instead of 89.6 % of the validation words after 14
    # epochs (bohoric, GRUs).
    dropout = tuple(f"model.dropout.{part}=0.2" for part in ("embeddings", "states", "readout"))
    settings = (*dropout, "training.epochs=30", *TO_THE_END)
    tasks = tuple(
        first(
            study,
            task(f"histnorm/{name}", f"histnorm-{name}", settings=settings),
            50_000 if name == "german-anselm" else 25_000,
            of_dev=5_000,
        )
        for name in SPELLING
    )
    table = "Bollmann 2019, table 6"
    heads = {f"histnorm-{name}": name.split("-")[-1] for name in SPELLING}
    published = {
        "rules and distances (Norma)": (82.21, 84.08, 80.82, 86.85),
        "phrase-based SMT": (84.47, 85.86, 81.76, 91.05),
        "recurrent, attention (NMT-1)": (82.35, 83.75, 79.59, 89.45),
        "deep recurrent, attention (NMT-2)": (83.69, 84.24, 77.61, 89.77),
    }
    return Benchmark(
        "histnorm",
        tasks,
        (RECURRENT, COPY, dataclasses.replace(TRANSFORMER, settings=(*TRANSFORMER.settings, "training.epochs=30"))),
        tuple(Column(head, "test.exact", (name,)) for name, head in heads.items()),
        tuple((name, dict(zip(heads.values(), values)), table) for name, values in published.items()),
        compared=KINDS,
        compared_on=tasks[-1:],
    )


# What `config init` proposes for GRUs and up to 1,500 lines of symbols. With 40 epochs, 55.3 instead of 60.2 % of the
# validation words were right (mean of the five languages, with `early_stopping: full`).
FOR_FEW_WORDS = ("training.epochs=200", "training.validation_every=5")
# With 120 epochs, a Transformer would make 2,000 steps. A dropout of 0.3 was as good as 0.2: 60.6 and 44.7 % of the validation
# words of asm and ang, and 59.5 and 45.8; hallucination was better: 73.9 and 51.3.
TRANSFORMER_FOR_FEW_WORDS = ("training.epochs=600", "training.validation_every=15")
HALLUCINATED = ("data.hallucination.rate=0.3",)
HALLUCINATION = System("hallucination", HALLUCINATED, "GRUs with additive attention, hallucinated stems", config=CONFIG)
TRANSFORMER_HALLUCINATION = System(
    "transformer_hallucination", (*TRANSFORMER.settings, *HALLUCINATED), "Transformer, hallucinated stems", config=CONFIG
)


def inflection():
    sizes = {"small": 700, "large": 7000}
    tasks, columns = [], []
    for size, items in sizes.items():
        settings = (*TO_THE_END, *(FOR_FEW_WORDS if size == "small" else ()))
        names = []
        for language in INFLECTION:
            tasks.append(task(f"inflection2022/{language}", f"inflection2022-{language}-{size}", size, settings=settings))
            names.append(tasks[-1].name)
            columns.append(Column(f"{language} {items}", "test.exact", (names[-1],)))
        columns.append(Column(f"mean {items}", "test.exact", tuple(names)))
    results = {
        "character Transformer": ((49.8, 54.7, 65.0, 59.3, 34.6), (61.1, 76.8, 77.2, 69.5, 39.7)),
        "rules": ((33.2, 26.2, 23.9, 30.1, 16.6), (43.1, 31.9, 37.3, 43.6, 36.4)),
    }
    published = []
    for name, of_sizes in results.items():
        values = [value for of_size in of_sizes for value in (*of_size, round(sum(of_size) / len(of_size), 2))]
        figures = dict(zip((column.head for column in columns), values))
        published.append((name, figures, "2022InflectionST, baseline results"))
    transformers = (TRANSFORMER, TRANSFORMER_HALLUCINATION)
    few = [each for each in tasks if each.name.endswith("-small")]
    return Benchmark(
        "inflection2022",
        tuple(tasks),
        (RECURRENT, HALLUCINATION, *transformers),
        tuple(columns),
        tuple(published),
        adapted={(system.name, each.name): TRANSFORMER_FOR_FEW_WORDS for system in transformers for each in few},
    )


# Without early stopping: generalisation grows long after the validation text is right (Csordás et al. 2021). With label
# smoothing and the dropout of small texts, a Transformer had 97.6 % of the validation text.
LOGICAL_FORMS = (
    "training.label_smoothing=0", "model.dropout.embeddings=0.1", "model.dropout.states=0.1", "training.epochs=20",
    "training.batch_size=1024", "training.validation_every=20", "training.patience=0", *longer_outputs(500),
    "search.beam_size=1",
)  # fmt: skip


def for_logical_forms(system, *more):
    return dataclasses.replace(system, settings=(*system.settings, *LOGICAL_FORMS, *more))


def logical_forms():
    return Benchmark(
        "cogs",
        (task("cogs", "cogs"),),
        (
            for_logical_forms(RECURRENT),
            for_logical_forms(COPY, *UNSEEN),
            for_logical_forms(by_parts(COPY)),
            for_logical_forms(TRANSFORMER),
            for_logical_forms(TRANSFORMER_COPY, *UNSEEN),
            for_logical_forms(by_parts(TRANSFORMER_COPY)),
        ),
        (Column("test", "test.exact", ("cogs",)), Column("gen", "gen.exact", ("cogs",))),
        (
            ("Transformer", {"test": 96, "gen": 35}, "Kim and Linzen 2020"),
            ("bidirectional LSTM with attention", {"test": 99, "gen": 16}, "Kim and Linzen 2020"),
            ("Transformer with relative positions, scaled embeddings, no early stopping", {"gen": 81}, "Csordás et al. 2021"),
        ),
        parts=("dev", "test", "gen"),
    )


def rare_words(study):
    """Returns the choice of the recipe for cogs, on sentences held out from its training text."""
    known = task("cogs", "cogs_rare")
    train, held_out = rarefied(list(zip(*lines_of(known.train))))
    stem = study.folder / "data" / known.name
    write_pairs(ROOT / stem / "train", train)
    write_pairs(ROOT / stem / "held_out", [pair[:2] for pair in held_out])
    (ROOT / stem / "held_out.type").write_text("".join(f"{kind}\n" for *_, kind in held_out), encoding="utf-8")
    made = hashlib.sha256(repr((train, held_out)).encode()).hexdigest()[:8]
    return Benchmark(
        known.name,
        (dataclasses.replace(known, train=f"{stem}/train", test=f"{stem}/test", made=made),),
        tuple(
            for_logical_forms(system, "training.epochs=10")
            for system in (COPY, by_parts(COPY), TRANSFORMER_COPY, by_parts(TRANSFORMER_COPY))
        ),
        (Column("mean of the changes", "held_out.by", (known.name,)),),
        (),
        parts=("held_out",),
        seeds=SEEDS[:1],
    )


# As good as 60 epochs with the dropout and the label smoothing of small texts: 99.6 and 99.5 % of the validation text of
# `simple`.
FOR_COMMANDS = (
    "training.label_smoothing=0", "model.dropout.embeddings=0.1", "model.dropout.states=0.1", "training.epochs=40",
    "training.batch_size=1024", "training.patience=0",
)  # fmt: skip


def commands(study):
    settings = (*TO_THE_END, *longer_outputs(100))
    transformer = dataclasses.replace(TRANSFORMER, settings=(*TRANSFORMER.settings, *FOR_COMMANDS))
    tasks = tuple(with_dev(study, task(f"scan/{name}", f"scan-{name}", settings=settings)) for name in COMMANDS)
    return Benchmark(
        "scan",
        tasks,
        (RECURRENT, transformer),
        tuple(Column(name, "test.exact", (f"scan-{name}",)) for name in COMMANDS),
        (
            ("recurrent", {"simple": 99.7, "length": 13.8, "jump": 1.7, "around_right": 2.5}, "Kim 2021, table 1"),
            ("recurrent, the best of each split", {"length": 20.8, "jump": 1.2, "turn_left": 90.3}, "Lake and Baroni 2018"),
            ("convolutional, the best of each split", {"simple": 99.97, "jump": 69.24, "around_right": 56.70}, "Dessì and Baroni 2019"),
        ),
        compared=with_positions(transformer),
        compared_on=tuple(each for each in tasks if each.name == "scan-length"),
    )


def python():
    return Benchmark(
        "django",
        (task("django", "django", settings=(*TO_THE_END, *longer_outputs(500))),),
        (RECURRENT, only_copying_rare(COPY), only_copying_rare(TRANSFORMER_COPY)),
        (Column("exact match", "test.exact", ("django",)), Column("BLEU", "test.bleu", ("django",))),
        (
            ("phrase-based SMT", {"exact match": 31.5, "BLEU": 47.6}, "Ling et al. 2016"),
            ("latent predictor network: attention and copying", {"exact match": 62.3, "BLEU": 77.6}, "Ling et al. 2016"),
            ("grammar-based with copying (tranX)", {"exact match": 77.2}, "Yin and Neubig 2018"),
        ),
    )


def with_link(origin):
    name = next(name for name in ADDRESSES if origin.startswith(name))
    return f"[{name}]({ADDRESSES[name]}){origin.removeprefix(name)}"
