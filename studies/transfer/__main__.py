"""Measures one model for several languages, and transfer from one language to another, and writes docs/transfer.md.

All models are the small one of configs/attention_comparison.yaml, on Multi30k. Stopped trainings are resumed, and
finished ones are skipped.
"""

import dataclasses

import project
from cells import ADDITIVE, Cell, Study, System, first_pairs, multi30k, parser_of, results_table, scores
from project import need_multi30k

STEPS = 3000  # for each direction
CHILD_STEPS = 1500
SIZES = (1000, 5000)
DIRECTIONS = [("en", "de"), ("en", "fr"), ("de", "en"), ("fr", "en")]


def tag(language):
    return f"<2{language}>"


def task_of(source, target, steps=STEPS):
    return dataclasses.replace(multi30k(source, target, 42), name=f"{source}-{target}", steps=steps)


def single():
    return System("single", ADDITIVE, "one model for each direction")


def several(name, remark, directions, side):
    """Returns the model of several directions, whose tags are on the side `src` or `trg`."""
    settings = [
        *ADDITIVE,
        "data.tokenizer.vocabulary_size=6000",
        f"data.tokenizer.user_symbols=[{', '.join(sorted({tag(target) for _, target in directions}))}]",
        f"training.max_steps={STEPS * len(directions)}",
        f"training.validation_every={STEPS * len(directions) // 2}",
    ]
    for i, (source, target) in enumerate(directions):
        if i > 0:
            train = task_of(source, target).data("train")
            settings += [f"data.train.{i}.src={train[0]}", f"data.train.{i}.trg={train[1]}"]
        settings.append(f"data.train.{i}.{side}_tag={tag(target)}")
    first = tag(directions[0][1])
    settings.append(f"data.dev.{side}_tag={first}")
    return System(name, tuple(settings), remark, tags=(f"--{side}-tag", first))


@dataclasses.dataclass(frozen=True)
class OtherDirections:
    """Scores the test set of each direction of a model."""

    directions: tuple
    side: str

    def __call__(self, cell, *options):
        found = {}
        for source, target in self.directions:
            tags = (f"--{self.side}-tag", tag(target))
            score = cell.score(*task_of(source, target).data("test"), *options, tags=tags)
            found[f"{source}-{target}"] = score["bleu"]["score"]
        return {"directions": found}


SEVERAL = [
    ("en_to_both", "from English, tags in the source (`src_tag`)", DIRECTIONS[:2], "src"),
    ("en_to_both_target_tags", "from English, tags of the target (`trg_tag`)", DIRECTIONS[:2], "trg"),
    ("all", "all four directions, tags in the source", DIRECTIONS, "src"),
]


def language_cells(study):
    """Returns the cells of single models by direction, and those of several directions by name."""
    singles = {
        f"{source}-{target}": Cell(study, single(), task_of(source, target)) for source, target in DIRECTIONS
    }
    shared = {}
    for name, remark, directions, side in SEVERAL:
        system = several(name, remark, directions, side)
        measure = OtherDirections(tuple(directions), side)
        shared[name] = Cell(study, system, task_of(*directions[0]), (scores, measure))
    return singles, shared


def children(parent):
    """Returns the systems of the second table."""
    short = (f"training.max_steps={CHILD_STEPS}", "training.validation_every=250")
    initial = ("--init-from", str(parent.run))
    longer = "data.tokenizer.extend_by=1000"
    frozen = "training.freeze=[decoder.*, output_bias]"

    def child(name, remark, *settings):
        return System(name, (*short, *settings), remark, options=initial, after=(parent,))

    scratch = (*ADDITIVE, *short, "data.tokenizer.vocabulary_size=1000")
    return [
        System("from_scratch", scratch, "from random weights, 1,000 sub-words"),
        child("from_german", "from German–English"),
        child("extended", "from German–English, extended", longer),
        child("extended_frozen", "from German–English, extended, frozen decoder", longer, frozen),
    ]


def child_cells(study, parent):
    tasks = [
        first_pairs(task_of("fr", "en", CHILD_STEPS), study, pairs, name=f"fr-en-{pairs}") for pairs in SIZES
    ]
    return [[Cell(study, system, task) for task in tasks] for system in children(parent)]


def number(value):
    return "–" if value is None else f"{value:.1f}"


def language_table(singles, shared):
    names = [f"{source}-{target}" for source, target in DIRECTIONS]
    head = ["model", "models", *(name.replace("-", "→") for name in names)]
    results = {name: cell.result() for name, cell in singles.items()}
    rows = [["one for each direction", 4, *(number((results[n] or {}).get("bleu")) for n in names)]]
    for cell in shared.values():
        found = (cell.result() or {}).get("directions", {})
        rows.append([cell.system.remark, 1, *(number(found.get(n)) for n in names)])
    done = [*results.values(), *(cell.result() for cell in shared.values())]
    return results_table(head, rows, done, "BLEU of test 2016, beam 5. ")


def transfer_table(cells):
    rows = []
    results = []
    for of_system in cells:
        found = [cell.result() for cell in of_system]
        results += found
        rows.append(
            [of_system[0].system.remark]
            + [f"{r['bleu']:.1f} ({r['dev']['bleu']:.1f})" if r else "–" for r in found]
        )
    head = ["start", *(f"{size:,} pairs" for size in SIZES)]
    remark = "BLEU of test 2016, and in brackets of the validation pair. "
    return results_table(head, rows, results, remark)


def main():
    study = Study(parser_of("transfer", __doc__).parse_args(), "transfer")
    need_multi30k("train.de", "train.fr")
    singles, shared = language_cells(study)
    parent = singles["de-en"]
    by_start = child_cells(study, parent)
    languages, starts = [*singles.values(), *shared.values()], [cell for cells in by_start for cell in cells]
    study.fill(study.selected(languages + starts))
    study.write({"languages": language_table(singles, shared), "transfer": transfer_table(by_start)}, languages + starts)


project.run(main)
